package trainserver_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"

	"github.com/traintravel/traintravel/gtfs"
	"github.com/traintravel/traintravel/internal/demo"
	"github.com/traintravel/traintravel/store/memstore"
	"github.com/traintravel/traintravel/trainserver"
)

// A program of yours serves the API below a path of its own mux.
func ExampleNew() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	base := "http://" + listener.Addr().String()

	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	store := memstore.New() // or boltstore.Open("trains.db", nil), with a KeysFile
	trains, err := trainserver.New(ctx, store, trainserver.Options{BaseURL: base + "/trains"})
	if err != nil {
		log.Fatal(err)
	}
	timetable, _, err := gtfs.Read(ctx, demo.Feed(), gtfs.Options{}) // or gtfs.ReadFile of your feed
	if err != nil {
		log.Fatal(err)
	}
	if _, err := trains.Service.LoadTimetable(ctx, timetable); err != nil {
		log.Fatal(err)
	}
	go trains.Run(ctx) // ends holds, makes refunds, delivers events

	mux := http.NewServeMux()
	trains.Mount(mux)
	go http.Serve(listener, mux)

	token, err := trains.Token("anna", "read", "write")
	if err != nil {
		log.Fatal(err)
	}
	req, _ := http.NewRequest("GET", base+"/trains/stations?search=berlin", nil)
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	fmt.Println(resp.Status, strings.Contains(string(text), `"name":"Berlin Hauptbahnhof"`))
	// Output: 200 OK true
}
