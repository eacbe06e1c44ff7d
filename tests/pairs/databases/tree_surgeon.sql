-- A tree surgeon's order book, one table wide. Costs are in pounds. Today is 2026-03-18.
create table jobs (
    job_no text primary key,
    work text not null,
    species text not null,
    town text not null,
    status text not null,
    priority text not null,
    climber text,
    requested_on date not null,
    done_on date,
    cost_gbp numeric(8, 2) not null,
    trees int not null,
    protected boolean not null
);
insert into jobs
select 'J' || (500 + n), work, species, town, status, priority,
    case when status = 'open' and (climber = 'Ravi Nath' or n % 4 = 0) or status = 'cancelled' and n % 2 = 0 then null else climber end,
    requested_on, case when status = 'done' then requested_on + 2 + (n * 37) % 41 end, 90 + (n * 6007 % 997) * 1.5, 1 + (n * 3571 % 991) % 6, n % 8 = 3
from (
    select n,
        (array['Felling', 'Pruning', 'Pruning', 'Hedge cutting', 'Stump grinding', 'Storm damage', 'Felling', 'Pruning'])[1 + (n * 7919 % 1009) % 8] as work,
        (array['Oak', 'Ash', 'Ash', 'Beech', 'Leylandii', 'Sycamore', 'Willow', 'Ash', 'Oak'])[1 + (n * 2741 % 983) % 9] as species,
        (array['York', 'Selby', 'Ripon', 'York', 'Malton', 'Thirsk', 'York', 'Ripon', 'Malton'])[1 + (n * 4447 % 1013) % 9] as town,
        (array['normal', 'urgent', 'low', 'normal', 'normal', 'urgent', 'low'])[1 + (n * 1511 % 977) % 7] as priority,
        (array['Ewan Tait', 'Sian Pugh', 'Mo Farrell', 'Sian Pugh', 'Ravi Nath', 'Sian Pugh', 'Ewan Tait'])[1 + (n * 5501 % 971) % 7] as climber,
        case when n <= 70 then case when n % 9 = 0 then 'cancelled' when n % 17 = 0 then 'open' else 'done' end
            else (array['open', 'booked', 'open', 'done'])[1 + n % 4] end as status,
        date '2024-11-04' + (n * 11) / 2 as requested_on
    from generate_series(1, 90) as n
) as order_book;
