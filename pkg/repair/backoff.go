package repair

import (
	"math/rand/v2"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// These are the pause after the first attempt, and the longest pause. The first is short, because a busy writer soon leaves the
// object alone.
const (
	firstPause = 50 * time.Millisecond
	maxPause   = 5 * time.Second
)

// pause returns how long to wait after an attempt: twice as long each time, longer if the server asks for it, and with jitter, so that two
// repairs of one object do not meet again and again.
func pause(attempt int, err error) time.Duration {
	wait := min(firstPause<<min(attempt-1, 7), maxPause)
	wait = wait/2 + rand.N(wait)
	if seconds, told := apierrors.SuggestsClientDelay(err); told {
		wait += time.Duration(max(seconds, 0)) * time.Second // client-go cuts a large number to 32 bits, which may be negative
	}
	return wait
}
