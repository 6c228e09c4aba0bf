// Answers queries by another journey planner, and prints how long each took on
// average: node peers.js minotor|raptor-journey-planner FOLDER
//
// The folder has a synthetic feed, as feed.zip and as the folder feed, and
// queries.json. A query is one departure: {"from": stop_id, "to": stop_id,
// "seconds": of the day}. Of three runs of each the least counts, as it does with
// the search that is compared.

import { readFileSync } from "node:fs";

const [name, folder] = process.argv.slice(2);
const { date, queries } = JSON.parse(readFileSync(folder + "/queries.json", "utf8")); // date is YYYY-MM-DD
const day = () => new Date(date + "T12:00:00");

// table reads a table of the feed, which has no quotes.
function table(name) {
  const [header, ...rows] = readFileSync(`${folder}/feed/${name}.txt`, "utf8").trimEnd().split("\n").map((line) => line.split(","));
  return rows.map((row) => Object.fromEntries(header.map((column, i) => [column, row[i]])));
}

const planners = {
  async minotor() {
    const { GtfsParser } = await import("minotor/parser");
    const { Query, Router, Time } = await import("minotor");
    const { timetable, stopsIndex } = await new GtfsParser(folder + "/feed.zip", { routeTypeParser: () => "RAIL" }).parse(day());
    const router = new Router(timetable, stopsIndex);
    return ({ from, to, seconds }) => {
      const query = new Query.Builder().from(from).to(to).maxTransfers(3);
      return router.route(query.departureTime(Time.fromSeconds(seconds)).build()).bestRoute() !== undefined;
    };
  },

  // Its own reader of zip files waits for ever with node 20, so it is given what that would have read.
  async "raptor-journey-planner"() {
    const planner = (await import("raptor-journey-planner")).default;
    const clock = new planner.TimeParser();
    const dates = {}, services = {}, transfers = {}, interchange = {};
    for (const row of table("calendar_dates")) (dates[row.service_id] ??= {})[row.date] = row.exception_type === "1";
    for (const row of table("calendar")) {
      const days = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"].map((d) => row[d] === "1");
      services[row.service_id] = new planner.Service(+row.start_date, +row.end_date, days, dates[row.service_id] ?? {});
    }
    for (const { from_stop_id: origin, to_stop_id: destination, min_transfer_time: time } of table("transfers")) {
      if (origin === destination) interchange[origin] = +time;
      else (transfers[origin] ??= []).push({ origin, destination, duration: +time, startTime: 0, endTime: Number.MAX_SAFE_INTEGER });
    }
    const trips = new Map(table("trips").map((row) => [row.trip_id, { serviceId: row.service_id, tripId: row.trip_id, stopTimes: [], service: services[row.service_id] }]));
    for (const row of table("stop_times")) {
      trips.get(row.trip_id).stopTimes.push({
        stop: row.stop_id, departureTime: clock.getTime(row.departure_time), arrivalTime: clock.getTime(row.arrival_time),
        pickUp: row.pickup_type !== "1", dropOff: row.drop_off_type !== "1",
      });
    }
    const known = new Set([...trips.values()].flatMap((trip) => trip.stopTimes.map((time) => time.stop)));
    const raptor = planner.RaptorAlgorithmFactory.create([...trips.values()], transfers, interchange, day());
    const query = new planner.DepartAfterQuery(raptor, new planner.JourneyFactory(), 1); // one day
    return ({ from, to, seconds }) => known.has(from) && known.has(to) && query.plan(from, to, day(), seconds).length > 0;
  },
};

const answer = await planners[name]();
let found = 0;
const least = queries.map(() => Infinity);
for (let run = 0; run < 4; run++) { // the first is not counted: the code is compiled in it
  found = 0;
  queries.forEach((query, i) => {
    const begun = process.hrtime.bigint();
    if (answer(query)) found++;
    if (run > 0) least[i] = Math.min(least[i], Number(process.hrtime.bigint() - begun) / 1e3);
  });
}
const mean = least.reduce((a, b) => a + b, 0) / queries.length;
console.log(JSON.stringify({ microseconds: mean, found }));
