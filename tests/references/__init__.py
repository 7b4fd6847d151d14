"""Reference discrete encoders that share no code with the library."""
