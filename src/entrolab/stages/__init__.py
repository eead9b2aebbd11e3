"""What the jobs of the workflow do: a function per rule, of the rule's input, output, params and so on."""
