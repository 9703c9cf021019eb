// Package tide predicts high and low water from a handful of constituents.
package tide

import (
	"errors"
	"fmt"
	"math"
	"sort"
	"time"
)

// Constituent is one wave of the sum that makes the tide.
type Constituent struct {
	Name      string
	Amplitude float64 // metres
	Phase     float64 // degrees
	Speed     float64 // degrees per hour
}

// Station is a place whose constituents are known.
type Station struct {
	Name         string
	Datum        float64
	Constituents []Constituent
}

// Extreme is a turn of the tide.
type Extreme struct {
	At     time.Time
	Height float64
	High   bool
}

var (
	// ErrNoConstituents says that a station cannot be predicted.
	ErrNoConstituents = errors.New("tide: the station has no constituents")
	// ErrBackwards says that a range ends before it begins.
	ErrBackwards = errors.New("tide: the range ends before it begins")
)

var epoch = time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)

// Height returns the height of the water above the datum.
func (s *Station) Height(at time.Time) (float64, error) {
	if len(s.Constituents) == 0 {
		return 0, fmt.Errorf("%s: %w", s.Name, ErrNoConstituents)
	}
	hours := at.Sub(epoch).Hours()
	height := s.Datum
	for _, c := range s.Constituents {
		height += c.Amplitude * math.Cos(radians(c.Speed*hours-c.Phase))
	}
	return height, nil
}

// slope returns how fast the water rises, in metres per hour.
func (s *Station) slope(at time.Time) float64 {
	hours := at.Sub(epoch).Hours()
	rise := 0.0
	for _, c := range s.Constituents {
		rise -= c.Amplitude * radians(c.Speed) * math.Sin(radians(c.Speed*hours-c.Phase))
	}
	return rise
}

// Extremes returns every turn of the tide in a range, the earliest first.
func (s *Station) Extremes(from, to time.Time) ([]Extreme, error) {
	if to.Before(from) {
		return nil, fmt.Errorf("%s: %w", s.Name, ErrBackwards)
	}
	if len(s.Constituents) == 0 {
		return nil, fmt.Errorf("%s: %w", s.Name, ErrNoConstituents)
	}
	const step = 10 * time.Minute
	var found []Extreme
	before := s.slope(from)
	for at := from.Add(step); !at.After(to); at = at.Add(step) {
		after := s.slope(at)
		if before == 0 || math.Signbit(before) == math.Signbit(after) {
			before = after
			continue
		}
		turn := s.bisect(at.Add(-step), at)
		height, err := s.Height(turn)
		if err != nil {
			return nil, err
		}
		found = append(found, Extreme{At: turn, Height: height, High: before > 0})
		before = after
	}
	sort.Slice(found, func(i, j int) bool { return found[i].At.Before(found[j].At) })
	return found, nil
}

// bisect narrows a turn down to one second.
func (s *Station) bisect(from, to time.Time) time.Time {
	rising := s.slope(from) > 0
	for to.Sub(from) > time.Second {
		middle := from.Add(to.Sub(from) / 2)
		if (s.slope(middle) > 0) == rising {
			from = middle
		} else {
			to = middle
		}
	}
	return to.Truncate(time.Second)
}

// String returns the turn as a line of a tide table.
func (e Extreme) String() string {
	kind := "low"
	if e.High {
		kind = "high"
	}
	return fmt.Sprintf("%s  %-4s  %5.2f m", e.At.Format("15:04"), kind, e.Height)
}

func radians(degrees float64) float64 {
	return degrees * math.Pi / 180
}
