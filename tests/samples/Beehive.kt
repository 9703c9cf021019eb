package org.example.apiary

import java.time.LocalDate
import java.time.temporal.ChronoUnit

/** What a beekeeper saw when a hive was open. */
data class Inspection(
    val date: LocalDate,
    val frames: Int,
    val queenSeen: Boolean,
    val note: String? = null,
)

sealed interface Advice {
    data class Inspect(val hive: String, val because: String) : Advice
    data class Feed(val hive: String, val kilograms: Double) : Advice
    data class Extend(val hive: String) : Advice
    data object Wait : Advice
}

class Beehive(val name: String) {
    private val inspections = mutableListOf<Inspection>()

    val last: Inspection?
        get() = inspections.maxByOrNull { it.date }

    fun note(inspection: Inspection) {
        require(inspection.frames in 0..20) { "A hive has no ${inspection.frames} frames." }
        require(inspections.none { it.date == inspection.date }) { "$name was inspected on ${inspection.date}." }
        inspections += inspection
    }

    /** Advises what to do on a day; a hive that was never opened is inspected first. */
    fun advise(today: LocalDate): Advice {
        val last = last ?: return Advice.Inspect(name, "it was never opened")
        val days = ChronoUnit.DAYS.between(last.date, today)
        return when {
            days > 10 && today.monthValue in 5..7 -> Advice.Inspect(name, "it may swarm")
            days > 30 -> Advice.Inspect(name, "nobody has looked for $days days")
            !last.queenSeen && days > 3 -> Advice.Inspect(name, "the queen wasn't seen")
            last.frames < 5 && today.monthValue >= 9 -> Advice.Feed(name, (5 - last.frames) * 2.5)
            last.frames >= 9 && today.monthValue in 4..8 -> Advice.Extend(name)
            else -> Advice.Wait
        }
    }

    override fun toString() = "$name (${inspections.size} inspections)"
}

class Apiary(private val hives: Map<String, Beehive>) {
    constructor(vararg names: String) : this(names.associateWith(::Beehive))

    operator fun get(name: String): Beehive =
        hives[name] ?: throw NoSuchElementException("There is no hive \"$name\".")

    fun work(today: LocalDate): List<Advice> =
        hives.values
            .map { it.advise(today) }
            .filterNot { it is Advice.Wait }
            .sortedBy(::urgency)

    private fun urgency(advice: Advice): Int = when (advice) {
        is Advice.Feed -> 0
        is Advice.Inspect -> 1
        is Advice.Extend -> 2
        Advice.Wait -> 3
    }
}

fun main() {
    val apiary = Apiary("lime", "meadow", "shed")
    apiary["lime"].note(Inspection(LocalDate.of(2025, 5, 2), frames = 9, queenSeen = true))
    apiary["meadow"].note(Inspection(LocalDate.of(2025, 5, 9), frames = 4, queenSeen = false, note = "wasps"))
    apiary.work(LocalDate.of(2025, 5, 14)).forEach(::println)
}
