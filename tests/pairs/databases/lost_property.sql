-- A tram company's lost-property office, one table wide. Fees and values are in euros. Today is 2026-03-18.
create table items (
    tag text primary key,
    category text not null,
    colour text not null,
    found_in text not null,
    tram_line int,
    state text not null,
    finder text,
    clerk text,
    found_on date not null,
    collected_on date,
    value_eur numeric(8, 2) not null,
    fee_eur numeric(6, 2)
);
insert into items
select 'T' || (100 + n), category, (array['black', 'blue', 'black', 'red', 'grey', 'green'])[1 + (n * 3571 % 991) % 6],
    (array['Nordau', 'Linz Hbf', 'Nordau', 'Ebels', 'Urfeld', 'Linz Hbf', 'Nordau'])[1 + (n * 4447 % 1013) % 7], case when n % 6 > 0 then 1 + (n * 1511 % 977) % 4 end,
    state, case when n % 4 > 0 then (array['J. Amsel', 'Rita Holm', 'Milo Stark', 'Rita Holm', 'Vera Bock'])[1 + (n * 5501 % 971) % 5] end,
    case when state = 'collected' or state = 'stored' and n % 3 > 0 and clerk <> 'Otto' then clerk end, found_on, case when state = 'collected' then found_on + 1 + (n * 13) % 44 end,
    2 + (n * 7109 % 1019) * 0.6, case when state = 'collected' then 3 + (n * 5059 % 1013) % 20 end
from (
    select n,
        (array['umbrella', 'phone', 'bag', 'umbrella', 'keys', 'glove', 'wallet', 'umbrella', 'bag'])[1 + (n * 7919 % 1009) % 9] as category,
        (array['Gerda', 'Gerda', 'Luis', 'Otto', 'Gerda', 'Luis'])[1 + (n * 2741 % 983) % 6] as clerk,
        case when n % 7 = 0 then 'auctioned' when n % 9 = 0 then 'sent to police' when n > 64 or n % 5 = 0 then 'stored' else 'collected' end as state,
        date '2025-01-07' + (n * 26) / 5 as found_on
    from generate_series(1, 82) as n
) as shelf;
