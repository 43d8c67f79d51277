package forecast

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// schedule is a cron schedule: for each of minute, hour, day, month and weekday the values at which it is due, as bits.
type schedule struct {
	minute, hour, day, month, weekday uint64
	// anyDay and anyWeekday say that the field is a star. If neither is, a day is due that matches one of them.
	anyDay, anyWeekday bool
}

// abbreviations of whole schedules.
func abbreviation(text string) string {
	switch text {
	case "@yearly", "@annually":
		return "0 0 1 1 *"
	case "@monthly":
		return "0 0 1 * *"
	case "@weekly":
		return "0 0 * * 0"
	case "@daily", "@midnight":
		return "0 0 * * *"
	case "@hourly":
		return "0 * * * *"
	}
	return text
}

// parseSchedule reads a schedule as the CronJob controller does, but not one with @every, which counts from the last run.
func parseSchedule(text string) (schedule, error) {
	fields := strings.Fields(abbreviation(strings.TrimSpace(text)))
	if len(fields) != 5 {
		return schedule{}, fmt.Errorf("schedule %q has %d fields", text, len(fields))
	}
	months := strings.Fields("jan feb mar apr may jun jul aug sep oct nov dec")
	weekdays := strings.Fields("sun mon tue wed thu fri sat")
	var s schedule
	for i, f := range []struct {
		bits     *uint64
		min, max int
		names    []string
	}{{&s.minute, 0, 59, nil}, {&s.hour, 0, 23, nil}, {&s.day, 1, 31, nil}, {&s.month, 1, 12, months}, {&s.weekday, 0, 6, weekdays}} {
		var err error
		if *f.bits, err = parseField(fields[i], f.min, f.max, f.names); err != nil {
			return schedule{}, fmt.Errorf("schedule %q: %w", text, err)
		}
	}
	s.anyDay, s.anyWeekday = isStar(fields[2]), isStar(fields[4])
	return s, nil
}

// isStar reports whether a field, or an item of it, leaves the day open.
func isStar(field string) bool {
	return slices.ContainsFunc(strings.Split(field, ","), func(item string) bool {
		return item == "*" || item == "?" || item == "*/1" || item == "?/1"
	})
}

// parseField reads one field: numbers, names, ranges and steps, separated by commas.
func parseField(field string, least, most int, names []string) (bits uint64, err error) {
	for _, item := range strings.Split(field, ",") {
		span, step, stepped := strings.Cut(item, "/")
		low, high := least, most
		if span != "*" && span != "?" {
			from, to, ranged := strings.Cut(span, "-")
			if low, err = parseValue(from, least, names); err != nil {
				return 0, err
			}
			if high = low; ranged {
				if high, err = parseValue(to, least, names); err != nil {
					return 0, err
				}
			} else if stepped {
				high = most
			}
		}
		by := 1
		if stepped {
			if by, err = strconv.Atoi(step); err != nil || by < 1 {
				return 0, fmt.Errorf("step %q", step)
			}
		}
		if low < least || high > most || low > high {
			return 0, fmt.Errorf("field %q is out of range", field)
		}
		for n := low; n <= high; n += by {
			bits |= 1 << n
		}
	}
	return bits, nil
}

// parseValue reads a number or a name, of which the first stands for the least value.
func parseValue(text string, least int, names []string) (int, error) {
	if i := slices.Index(names, strings.ToLower(text)); i >= 0 {
		return least + i, nil
	}
	return strconv.Atoi(text)
}

// next returns when the schedule is due after t in a time zone; zero if that is not within five years. A time that the change to summer
// time skips is not due on that day.
func (s schedule) next(t time.Time, zone *time.Location) time.Time {
	t = t.In(zone)
	for days := range 5 * 366 {
		day := time.Date(t.Year(), t.Month(), t.Day()+days, 12, 0, 0, 0, zone)
		if !s.dueOn(day) {
			continue
		}
		for minute := range 24 * 60 {
			if !has(s.hour, minute/60) || !has(s.minute, minute%60) {
				continue
			}
			at := time.Date(day.Year(), day.Month(), day.Day(), minute/60, minute%60, 0, 0, zone)
			if at.After(t) && at.Hour() == minute/60 && at.Minute() == minute%60 {
				return at
			}
		}
	}
	return time.Time{}
}

// dueOn reports whether the schedule is due on a day.
func (s schedule) dueOn(day time.Time) bool {
	byDay, byWeekday := has(s.day, day.Day()), has(s.weekday, int(day.Weekday()))
	if !has(s.month, int(day.Month())) {
		return false
	}
	if s.anyDay || s.anyWeekday {
		return byDay && byWeekday
	}
	return byDay || byWeekday
}

func has(bits uint64, n int) bool { return bits>>n&1 == 1 }
