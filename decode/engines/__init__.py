"""engines: what inference engines that other people wrote need to decode under our constraints, one file each."""
