-- A tenant's schema may be on another server: `host:port`, reached as DATABASE_URL says otherwise. Null: the server of this database.
alter table tenants add column node text check (node <> '');
