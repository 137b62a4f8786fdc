"""Pure URL rules: reading, keys, scope, shapes. The only importer of yarl and of the URL parser."""
