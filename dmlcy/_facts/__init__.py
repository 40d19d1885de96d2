"""The facts of DirectML, as data: operators, fields, rules, levels, names."""
