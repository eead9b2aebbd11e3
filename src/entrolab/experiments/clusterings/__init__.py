"""The figure of clusters that clusterers find."""
