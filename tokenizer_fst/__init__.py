"""Part of Tokamata."""
