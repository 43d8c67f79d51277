package main

import "github.com/helmdrift/helmdrift/internal/forecast"

// forecastGuest returns the forecast of what writes mean for pods and data as a guest.
func forecastGuest() guest { return guest{forecast: forecast.Run} }
