"""The commands of ``continuum`` that take a config, one file each; they load nothing heavy."""
