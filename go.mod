module github.com/traintravel/traintravel

go 1.26.0

require (
	github.com/google/go-cmp v0.7.0
	github.com/google/uuid v1.6.0
	go.etcd.io/bbolt v1.5.0
	golang.org/x/text v0.44.0
	pgregory.net/rapid v1.3.0
)

require golang.org/x/sys v0.45.0 // indirect
