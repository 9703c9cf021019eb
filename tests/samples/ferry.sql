-- Tables and questions of a ferry line: sailings, cars on deck, and what passengers paid.

CREATE TABLE vessel (
    id          integer PRIMARY KEY,
    name        text NOT NULL UNIQUE,
    lane_metres numeric(6, 1) NOT NULL CHECK (lane_metres > 0),
    passengers  integer NOT NULL CHECK (passengers > 0)
);

CREATE TABLE harbour (
    code text PRIMARY KEY CHECK (length(code) = 3),
    name text NOT NULL
);

CREATE TABLE sailing (
    id        integer PRIMARY KEY,
    vessel_id integer NOT NULL REFERENCES vessel (id),
    departs   text NOT NULL REFERENCES harbour (code),
    arrives   text NOT NULL REFERENCES harbour (code),
    leaves_at timestamp NOT NULL,
    cancelled boolean NOT NULL DEFAULT false,
    CHECK (departs <> arrives)
);

CREATE INDEX sailing_by_day ON sailing (departs, leaves_at);

CREATE TABLE booking (
    id         integer PRIMARY KEY,
    sailing_id integer NOT NULL REFERENCES sailing (id) ON DELETE CASCADE,
    passengers integer NOT NULL DEFAULT 1,
    car_length numeric(4, 1),
    paid_cents integer NOT NULL DEFAULT 0,
    booked_at  timestamp NOT NULL DEFAULT current_timestamp
);

-- How full each sailing is; a sailing without cars has none on deck, not an unknown number.
CREATE VIEW load AS
SELECT
    sailing.id AS sailing_id,
    vessel.name AS vessel,
    sailing.leaves_at,
    coalesce(sum(booking.passengers), 0) AS passengers,
    coalesce(sum(booking.car_length), 0) AS lane_metres,
    vessel.passengers AS passengers_at_most,
    vessel.lane_metres AS lane_metres_at_most
FROM sailing
JOIN vessel ON vessel.id = sailing.vessel_id
LEFT JOIN booking ON booking.sailing_id = sailing.id
WHERE NOT sailing.cancelled
GROUP BY sailing.id, vessel.id;

-- Sailings of tomorrow on which a car of 4.5 m still fits.
SELECT vessel, leaves_at, lane_metres_at_most - lane_metres AS free
FROM load
WHERE leaves_at >= current_date + interval '1 day'
  AND leaves_at < current_date + interval '2 days'
  AND lane_metres_at_most - lane_metres >= 4.5
ORDER BY leaves_at;

-- What each line earned in a month.
SELECT
    sailing.departs || '–' || sailing.arrives AS line,
    date_trunc('month', sailing.leaves_at) AS month,
    count(DISTINCT sailing.id) AS sailings,
    sum(booking.paid_cents) / 100.0 AS earned
FROM sailing
JOIN booking ON booking.sailing_id = sailing.id
GROUP BY line, month
HAVING sum(booking.paid_cents) > 0
ORDER BY month, line;

-- Passengers of a cancelled sailing go to the next one, and nobody pays twice.
UPDATE booking
SET sailing_id = later.id
FROM sailing AS old
JOIN sailing AS later
    ON later.departs = old.departs
    AND later.arrives = old.arrives
    AND later.leaves_at > old.leaves_at
WHERE booking.sailing_id = old.id
  AND old.cancelled
  AND NOT later.cancelled;
