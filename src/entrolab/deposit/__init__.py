"""Results as an archive that others can check, rebuild and cite: an RO-Crate in a zip file."""
