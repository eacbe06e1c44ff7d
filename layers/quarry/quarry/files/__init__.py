"""Reads files of rows, one record after another in bounded memory, whatever their format."""
