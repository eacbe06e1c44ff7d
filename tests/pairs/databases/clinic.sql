-- A small outpatient clinic. Amounts are in euro cents. Today is 2026-03-18.
create table departments (
    id int primary key,
    name text not null,
    floor int not null
);
create table doctors (
    id int primary key,
    full_name text not null,
    department_id int not null references departments,
    speciality text not null,
    hired_on date not null,
    weekly_hours numeric(4, 1) not null
);
create table patients (
    id int primary key,
    full_name text not null,
    born_on date not null,
    city text not null,
    insurer text,
    registered_on date not null
);
create table appointments (
    id int primary key,
    patient_id int not null references patients,
    doctor_id int not null references doctors,
    day date not null,
    duration_min int not null,
    status text not null check (status in ('booked', 'done', 'cancelled', 'no-show')),
    reason text not null
);
create table invoices (
    id int primary key,
    appointment_id int not null references appointments,
    amount_cents int not null,
    issued_on date not null,
    due_on date not null,
    paid_on date
);
insert into departments values (1, 'Cardiology', 2), (2, 'Paediatrics', 1), (3, 'Dermatology', 1), (4, 'Orthopaedics', 3);
insert into doctors values
    (1, 'Dr Ingrid Solberg', 1, 'heart rhythm', '2014-04-01', 38.5),
    (2, 'Dr Marcus Okafor', 1, 'vascular medicine', '2019-09-15', 40),
    (3, 'Dr Leila Haddad', 2, 'allergies', '2021-02-01', 24),
    (4, 'Dr Tomasz Wilk', 2, 'newborn care', '2009-06-01', 32),
    (5, 'Dr Hannah Brandt', 3, 'skin cancer', '2017-11-20', 36),
    (6, 'Dr Paulo Teixeira', 4, 'sports injuries', '2023-01-09', 40),
    (7, 'Dr Ruth Abernathy', 4, 'hip replacement', '2006-08-14', 20),
    (8, 'Dr Noor van Dijk', 3, 'eczema', '2025-10-01', 30);
insert into patients
select n,
    (array['Anna', 'Bruno', 'Clara', 'David', 'Elif', 'Frank', 'Greta', 'Hugo', 'Irma', 'Jonas'])[1 + (n * 7) % 10] || ' '
        || (array['Keller', 'Martinez', 'Novak', 'Olsen', 'Petrov', 'Quinn', 'Rossi', 'Schmidt', 'Tanaka', 'Ullrich', 'Vogel'])[1 + (n * 4) % 11],
    date '1938-05-20' + n * 523,
    (array['Bonn', 'Cologne', 'Siegburg', 'Königswinter', 'Bonn'])[1 + n % 5],
    case when n % 9 = 0 then null else (array['Barmer', 'AOK', 'Techniker', 'Allianz'])[1 + n % 4] end,
    date '2023-01-10' + n * 19
from generate_series(1, 60) as n;
insert into appointments
select n,
    1 + (n * 104729 % 1013) % 57,
    (array[1, 2, 3, 4, 5, 6, 7, 6, 4, 6, 5, 6])[1 + (n * 7919 % 1009) % 12],
    date '2025-09-01' + (n * 221 / 150),
    (array[15, 30, 20, 45, 30, 60, 15])[1 + n % 7],
    case when date '2025-09-01' + (n * 221 / 150) > date '2026-03-18' then 'booked'
        when n % 13 = 0 then 'no-show' when n % 8 = 0 then 'cancelled' else 'done' end,
    (array['check-up', 'rash', 'knee pain', 'vaccination', 'chest pain', 'follow-up visit', 'back pain', 'blood test', 'check-up', 'rash'])[1 + (n * 2741 % 997) % 10]
from generate_series(1, 150) as n;
insert into invoices
select row_number() over (order by id), id, 3500 + duration_min * 190 + (id % 11) * 425, day + 3, day + 33,
    case when id % 6 = 0 then null else day + 3 + (id * 5) % 41 end
from appointments where status = 'done';
