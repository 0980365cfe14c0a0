"""The formats of dates and times in the admin, by language (`FORMAT_MODULE_PATH`)."""
