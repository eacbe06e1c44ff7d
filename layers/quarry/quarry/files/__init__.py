"""Files of rows that people bring: read one record after another in bounded memory, whatever their format."""
