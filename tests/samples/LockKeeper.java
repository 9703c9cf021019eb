package org.example.canal;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * Decides which boat enters the lock next, and when the gates may move.
 *
 * <p>The keeper knows two queues, one on each side. It alternates between them as long as both have
 * boats, because an empty passage wastes a chamber of water.
 */
public final class LockKeeper {
    private static final Duration FILLING = Duration.ofMinutes(11);
    private static final Duration EMPTYING = Duration.ofMinutes(9);
    private static final int MOST_BOATS = 4;

    private final Deque<Boat> upstream = new ArrayDeque<>();
    private final Deque<Boat> downstream = new ArrayDeque<>();
    private final Map<String, Instant> arrivals = new HashMap<>();
    private final WaterGauge gauge;

    private Level level = Level.LOW;
    private Instant busyUntil = Instant.EPOCH;

    public LockKeeper(WaterGauge gauge) {
        this.gauge = Objects.requireNonNull(gauge, "a lock needs a gauge");
    }

    /** Registers a boat that waits above the lock. */
    public void arriveUpstream(Boat boat, Instant now) {
        if (arrivals.containsKey(boat.name())) {
            throw new IllegalStateException(boat.name() + " is already waiting");
        }
        arrivals.put(boat.name(), now);
        upstream.addLast(boat);
    }

    /** Registers a boat that waits below the lock. */
    public void arriveDownstream(Boat boat, Instant now) {
        if (arrivals.containsKey(boat.name())) {
            throw new IllegalStateException(boat.name() + " is already waiting");
        }
        arrivals.put(boat.name(), now);
        downstream.addLast(boat);
    }

    /** Returns the boats of the next passage, or nothing while the chamber is busy. */
    public Optional<Passage> next(Instant now) {
        if (now.isBefore(busyUntil) || (upstream.isEmpty() && downstream.isEmpty())) {
            return Optional.empty();
        }
        boolean goesDown = level == Level.HIGH ? !upstream.isEmpty() : downstream.isEmpty();
        Deque<Boat> queue = goesDown ? upstream : downstream;
        Passage passage = new Passage(goesDown ? Direction.DOWN : Direction.UP);
        double free = gauge.chamberLength();
        while (!queue.isEmpty() && passage.size() < MOST_BOATS) {
            Boat boat = queue.peekFirst();
            if (boat.length() > free) {
                break;
            }
            free -= boat.length();
            passage.add(queue.removeFirst());
            arrivals.remove(boat.name());
        }
        busyUntil = now.plus(timeFor(passage));
        level = goesDown ? Level.LOW : Level.HIGH;
        return Optional.of(passage);
    }

    /** Returns how long a boat has waited; zero for a boat that nobody knows. */
    public Duration waited(Boat boat, Instant now) {
        Instant arrived = arrivals.get(boat.name());
        return arrived == null ? Duration.ZERO : Duration.between(arrived, now);
    }

    private Duration timeFor(Passage passage) {
        Duration water = passage.direction() == Direction.UP ? FILLING : EMPTYING;
        if (gauge.isDry()) {
            // "Dry" means that the upper reach must not fall any further: the pumps are slow.
            water = water.multipliedBy(3);
        }
        return water.plusMinutes(2L * passage.size());
    }

    private enum Level {
        LOW,
        HIGH,
    }

    public enum Direction {
        UP,
        DOWN,
    }
}
