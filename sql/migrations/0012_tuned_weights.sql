-- Weights that `quarry tune --apply` found best for the data in here, by the names of the settings that they stand for. What the
-- environment sets wins.
create table tuned_weights (
  name text primary key,
  weight double precision not null check (weight between 0 and 1),
  stored_at timestamptz not null default now()
);
