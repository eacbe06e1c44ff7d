-- The keys that JSON columns of a collection's source were seen to hold, by their paths: they are fields, though none is declared.
alter table collections add column document_keys json not null default '{}';
