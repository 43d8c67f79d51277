package main

import "github.com/helmdrift/helmdrift/internal/waiting"

// rolloutGuest returns --wait of fix as a guest.
func rolloutGuest() guest { return guest{waiter: waiting.New} }
