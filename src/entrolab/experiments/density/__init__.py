"""What fits cost on data of several dimensions and densities (RKELM paper, section 6.4)."""
