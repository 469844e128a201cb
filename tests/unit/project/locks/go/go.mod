module example.com/shop

go 1.19

require github.com/google/uuid v1.3.0

require (
	github.com/gorilla/mux/v2 v2.0.1 // indirect
	golang.org/x/text v0.3.8-0.20211004125949-5bd84dd9b33b
	rsc.io/quote v1.5.2
)

replace golang.org/x/text => ./text

replace github.com/google/uuid v1.3.0 => ./uuid

replace github.com/gorilla/mux/v2 => ./mux

exclude github.com/google/uuid v1.2.0

retract [v1.0.0, v1.1.0] // broken
