-- Einsätze eines Notdienstes für Heizung und Wasser, in einer Tabelle. Beträge in Euro. Stichtag 2026-02-11.
create table einsaetze (
    einsatz_nr text primary key,
    art text not null,
    ort text not null,
    stand text not null,
    dringlichkeit text not null,
    monteur text,
    kunde text not null,
    gemeldet_am date not null,
    erledigt_am date,
    rechnung_eur numeric(8, 2) not null,
    anfahrt_km int not null,
    notruf boolean not null
);
insert into einsaetze
select 'E' || (200 + n), art, ort, stand, dringlichkeit, case when stand = 'erledigt' or n % 3 > 0 and monteur <> 'Kuno Abel' then monteur end,
    (array['Hotel Adler', 'Familie Brehm', 'Stadtwerke', 'Familie Yilmaz', 'Hotel Adler', 'Café Lenz', 'Stadtwerke'])[1 + (n * 6007 % 997) % 7],
    gemeldet_am, case when stand = 'erledigt' then gemeldet_am + (n * 17) % 19 end, 70 + (n * 7109 % 1019) * 1.1, 2 + (n * 5059 % 1013) % 60, n % 5 = 2
from (
    select n,
        (array['Rohrbruch', 'Heizung aus', 'Verstopfung', 'Heizung aus', 'Wasserhahn', 'Therme', 'Rohrbruch'])[1 + (n * 7919 % 1009) % 7] as art,
        (array['Passau', 'Vilshofen', 'Passau', 'Hauzenberg', 'Tittling', 'Passau', 'Vilshofen'])[1 + (n * 4447 % 1013) % 7] as ort,
        (array['normal', 'hoch', 'normal', 'niedrig', 'hoch', 'normal'])[1 + (n * 1511 % 977) % 6] as dringlichkeit,
        (array['Resi Huber', 'Toni Wimmer', 'Resi Huber', 'Kuno Abel', 'Resi Huber', 'Toni Wimmer'])[1 + (n * 2741 % 983) % 6] as monteur,
        case when n <= 58 then case when n % 13 = 0 then 'storniert' else 'erledigt' end else (array['offen', 'geplant', 'offen', 'erledigt'])[1 + n % 4] end as stand,
        date '2024-12-09' + (n * 28) / 5 as gemeldet_am
    from generate_series(1, 76) as n
) as buch;
