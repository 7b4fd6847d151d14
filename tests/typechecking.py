"""The run-time type checker of the suite: beartype with the numeric tower of PEP 484."""

from beartype import BeartypeConf, beartype

#: An int is welcome where a float is asked for, as in every static checker.
checked = beartype(conf=BeartypeConf(is_pep484_tower=True))
