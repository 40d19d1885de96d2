"""What is known of DirectML, as data: operators, fields, rules, levels, names."""
