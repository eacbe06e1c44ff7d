-- What an operator lets a tenant use. Null: as the settings TENANT_REQUESTS_PER_MINUTE, TENANT_ROWS and TENANT_CREDITS say; 0: any amount.
alter table tenants add column requests_per_minute bigint check (requests_per_minute >= 0);
alter table tenants add column rows_max bigint check (rows_max >= 0);
alter table tenants add column credits_max bigint check (credits_max >= 0);

-- The credits that all users of this schema have spent, counted for tenants in the transaction that spends them.
create table credits_spent (
  is_only boolean primary key default true check (is_only),
  credits bigint not null check (credits >= 0)
);
insert into credits_spent (credits) select -sum(amount) from credit_ledger where amount < 0 having count(*) > 0;
grant insert, update on credits_spent to quarry_serving;
