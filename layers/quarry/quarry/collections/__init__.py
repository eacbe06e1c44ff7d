"""Tables of the database's owner that are searched where they are: declared in `quarry.toml`, kept in step beside them."""
