"""Speed of this project against the implementations its users would otherwise run."""
