package main

// A line is a route of routes.txt with its trains of both directions.
//
// The path names stations and the minutes of running time between them:
//
//	Berlin 70 Halle/5 32 +Erfurt 67 Nürnberg
//
// The train waits five minutes at Halle, and three where nothing is said. A
// plus bars alighting, a minus bars boarding; on the way back they swap.
//
// There and back are departures from the first and the last station of the
// path, by the clock there in winter: 6:04 8:04, or 6:04-20:04/2h for one every
// two hours.
type line struct {
	operator string
	first    int // trains are numbered upwards from here, odd there, even back
	path     string
	there    string
	back     string
	stock    stock
	fare     string // currency, base, per kilometre
	days     string
}

const berlinParis = "Berlin 99 Hannover 158 Köln/8 107 Bruxelles/6 85 Paris-Nord"

var lines = []line{
	// Germany and its neighbours
	{"ME", 500, "Berlin 70 Halle 32 Erfurt 67 Nürnberg 63 München",
		"6:04-18:04/3h", "5:55-17:55/3h", ice, "eur 19.00 0.13", daily},
	{"ME", 10, berlinParis, "11:00", "10:55", ice, "eur 29.00 0.09", daily},
	{"LA", 20, berlinParis, "7:00", "6:55", tgv, "eur 29.00 0.09", daily},
	{"LA", 30, berlinParis, "13:00", "12:55", ic, "eur 19.00 0.08", daily},
	{"ME", 14, berlinParis, "15:00", "14:55", icePlain, "eur 29.00 0.10", daily},
	{"ME", 170, "Hamburg 110 Berlin/8 113 Dresden 136 Praha/8 152 Brno 90 Bratislava 146 Budapest",
		"6:35", "5:25", ec, "eur 12.90 0.08", daily},
	{"ME", 180, "Hamburg 110 Berlin/8 113 Dresden 136 Praha",
		"10:35 14:35", "10:25 14:25", ec, "eur 12.90 0.10", daily},
	{"ME", 250, "Graz 152 Wien/6 88 Brno 153 Praha/8 136 Dresden 112 Berlin",
		"6:26 12:26", "5:16 13:16", ec, "eur 12.90 0.09", daily},
	{"ME", 40, "Berlin 163 Poznań 147 Warszawa", "5:52 13:52", "5:58 13:58", ecEast, "eur 14.90 0.08", daily},
	{"ME", 50, "Berlin 163 Poznań 165 Gdańsk", "9:52", "9:58", ecEast, "eur 14.90 0.08", daily},
	{"ME", 70, "Hamburg 78 Hannover 138 Frankfurt/6 166 Basel/8 53 Zürich",
		"6:01-14:01/4h", "7:00-15:00/4h", ice, "eur 19.00 0.14", daily},
	{"ME", 80, "Frankfurt 166 Basel/8 56 Bern", "9:50 15:50", "8:04 14:04", ice, "eur 19.00 0.14", daily},
	{"ME", 120, "Amsterdam 155 Köln/4 62 Frankfurt",
		"8:05 16:05", "6:29 14:29", icePlain, "eur 19.00 0.14", daily},
	{"ME", 140, "Berlin 99 Hannover 245 Amsterdam", "6:34 14:34", "7:00 15:00", ic, "eur 19.00 0.10", daily},
	{"ME", 200, "Bruxelles 107 Köln/5 62 Frankfurt", "8:23 18:23", "8:16 16:16", ice, "eur 19.00 0.14", daily},
	{"ME", 590, "Köln 64 Frankfurt/6 78 Stuttgart/5 128 München",
		"5:55-17:55/6h", "6:27-18:27/6h", ice, "eur 17.90 0.13", daily},
	{"ME", 390, "Hamburg 278 København", "6:53 14:53", "7:26 15:26", ic, "eur 24.90 0.10", daily},
	{"ME", 400, "Berlin 110 Hamburg/8 278 København/10 38 Malmö/4 152 Göteborg/6 217 Oslo",
		"7:10", "7:20", ic, "eur 29.00 0.09", daily},
	{"ME", 410, "Hamburg 278 København/10 38 Malmö/5 262 Stockholm", "8:53", "9:21", ic, "eur 29.00 0.09", daily},
	{"ME", 190, "München 213 Zürich", "6:54-18:54/6h", "7:33-19:33/6h", ec, "eur 19.00 0.12", daily},

	// The Danube and the eastern Alps
	{"DN", 60, "Budapest 157 Wien/8 141 Salzburg/4 103 München",
		"6:40-14:40/4h", "7:17-15:17/4h", railjet, "eur 14.90 0.09", daily},
	{"DN", 160, "Budapest 157 Wien/8 141 Salzburg/4 108 Innsbruck/4 211 Zürich",
		"8:40 10:40", "8:40 10:40", railjet, "eur 19.90 0.09", daily},
	{"DN", 210, "München 103 Salzburg 152 Villach/8 102 Ljubljana/5 140 Zagreb",
		"8:17 12:17", "7:07 11:07", ec, "eur 19.00 0.09", daily},
	{"DN", 130, "Wien 262 Villach 200 Venezia", "6:25", "8:05", railjet, "eur 19.90 0.09", daily},
	{"DN", 150, "Wien 155 Graz/5 202 Ljubljana", "7:58", "8:25", ec, "eur 14.90 0.08", daily},
	{"DN", 340, "Budapest 205 Beograd", "6:15 17:15", "6:40 17:40", railjet, "eur 9.90 0.07", daily},
	{"DN", 200, "Budapest 366 Zagreb", "6:20", "9:55", plain, "eur 9.00 0.06", daily},
	{"DN", 410, "Zagreb 400 Beograd", "11:05", "10:20", plain, "eur 9.00 0.05", daily},

	// Without reservation
	{"GR", 1000, "Amsterdam 41 Rotterdam 72 Antwerpen 44 Bruxelles",
		"7:45-19:45/4h", "7:15-19:15/4h", regio, "eur 4.00 0.17", daily},
	{"GR", 1100, "Wien 62 Bratislava", "5:16-21:16/4h", "6:38-22:38/4h", regio, "eur 1.50 0.16", daily},
	{"GR", 1200, "Luxembourg 121 Strasbourg", "8:25", "10:52", local, "eur 3.00 0.18", daily},
	{"GR", 1300, "Strasbourg 77 Basel", "6:21 16:21", "6:51 16:51", local, "eur 2.50 0.17", daily},
	{"GR", 1400, "München 105 Salzburg", "7:55 19:55", "6:00 18:00", regio, "eur 2.00 0.17", daily},
	{"GR", 1450, "München 112 Innsbruck", "8:30", "18:10", regio, "eur 2.00 0.17", weekend},

	// Switzerland
	{"AQ", 310, "Zürich 197 Milano", "7:10-19:10/6h", "7:43-19:43/6h", railjet, "chf 17.00 0.18", daily},
	{"AQ", 700, "Zürich 56 Bern/4 104 Genève", "6:02-18:02/6h", "6:42-18:42/6h", regio, "chf 5.00 0.30", daily},
	{"AQ", 350, "Genève 236 Milano", "7:39", "8:16", tilting, "chf 17.00 0.17", daily},
	{"AQ", 900, "Zürich 56 Bern/12 56 Basel/12 53 Zürich",
		"9:30 13:30", "10:05 14:05", panorama, "chf 9.00 0.25", daily},

	// France and its neighbours
	{"LA", 600, "Paris-Lyon 117 Lyon/6 100 Marseille",
		"6:20-18:20/4h", "6:06-18:06/4h", tgv, "eur 16.00 0.11", daily},
	{"LA", 930, "Paris-Nord 82 Bruxelles/5 38 Antwerpen 33 Rotterdam 40 Amsterdam",
		"6:25 12:25 19:25", "6:15 12:15 18:15", red, "eur 25.00 0.15", daily},
	{"LA", 950, "Paris-Est 107 Strasbourg 77 Stuttgart/5 139 München",
		"6:55", "6:21", tgv, "eur 25.00 0.11", daily},
	{"LA", 955, "Paris-Est 107 Strasbourg 113 Frankfurt",
		"8:20 18:20", "5:58 16:58", ice, "eur 25.00 0.11", daily},
	{"LA", 280, "Paris-Est 128 Luxembourg", "7:40 18:40", "6:10 17:10", tgv, "eur 15.00 0.12", daily},
	{"LA", 970, "Paris-Lyon 191 Genève", "7:18 17:18", "6:29 18:29", tgv, "eur 25.00 0.11", daily},
	{"LA", 920, "Paris-Lyon 184 Basel/5 54 Zürich", "7:22 18:22", "6:34 17:34", tgv, "eur 25.00 0.12", daily},
	{"LA", 924, "Paris-Lyon 118 Lyon/6 295 Milano", "6:46 14:43", "6:00 15:10", tgv, "eur 29.00 0.10", daily},
	{"LA", 980, "Barcelona 302 Lyon/6 117 Paris-Lyon", "9:25 15:25", "9:42 14:42", tgv, "eur 29.00 0.10", daily},
	{"LA", 990, "Madrid 77 Zaragoza 88 Barcelona/10 302 Lyon/6 117 Paris-Lyon",
		"8:10", "8:42", tgv, "eur 39.00 0.08", daily},

	// Great Britain
	{"SX", 9000, "London 137 Paris-Nord", "7:01-19:01/4h", "7:13-19:13/4h", strait, "gbp 35.00 0.20", daily},
	{"SX", 9100, "London 119 Bruxelles/6 71 Rotterdam 41 Amsterdam",
		"6:16 16:04", "7:47 17:47", strait, "gbp 29.00 0.18", daily},
	{"SX", 9200, "London 137 Paris-Nord", "9:31 14:31", "10:13 15:13", strait, "eur 39.00 0.24", daily},
	{"SX", 9300, "London 119 Bruxelles/8 107 Köln/5 62 Frankfurt", "10:58", "8:11", strait, "eur 39.00 0.20", daily},
	{"SX", 50, "London-KX 264 Edinburgh", "7:00 17:00", "6:30 16:30", mark4, "gbp 12.00 0.11", daily},
	{"SX", 80, "London-KX 258 Edinburgh", "8:00", "17:30", mark4, "gbp 12.00 0.11", workdays},
	{"SX", 90, "London-KX 264 Edinburgh", "14:30", "8:30", mark4, "eur 15.00 0.13", daily},

	// Italy
	{"TR", 9500, "Milano 64 Bologna 37 Firenze/5 95 Roma/8 73 Napoli",
		"6:10-18:10/4h", "6:09-18:09/4h", freccia, "eur 14.90 0.11", daily},
	{"TR", 9400, "Venezia 87 Bologna 37 Firenze/5 95 Roma",
		"6:26 17:26", "7:35 18:35", freccia, "eur 14.90 0.11", daily},
	{"TR", 9700, "Milano 147 Venezia", "7:45 15:45", "7:48 15:48", freccia, "eur 9.90 0.11", daily},
	{"TR", 80, "München 109 Innsbruck/6 292 Venezia", "7:34", "9:20", ec, "eur 19.90 0.09", daily},

	// Spain and Portugal
	{"IV", 3070, "Madrid 77 Zaragoza 88 Barcelona",
		"6:30-18:30/6h", "6:25-18:25/6h", ave, "eur 15.00 0.12", daily},
	{"IV", 3200, "Madrid 153 Sevilla", "7:00 15:00", "6:45 14:45", ave, "eur 14.00 0.11", daily},
	{"LR", 120, "Lisboa 158 Porto", "7:09 14:09", "6:47 13:47", alfa, "eur 9.50 0.08", daily},

	// The North
	{"NX", 520, "Stockholm 262 Malmö/5 38 København",
		"6:21 14:21", "7:36 15:36", tilting, "sek 195.00 1.05", daily},
	{"NX", 420, "Stockholm 186 Göteborg", "6:10 16:10", "6:29 16:29", tilting, "sek 145.00 1.00", daily},
	{"NX", 390, "Göteborg 217 Oslo", "6:55 16:55", "7:01 17:01", ic, "sek 95.00 0.80", daily},
	{"NX", 620, "Stockholm 322 Oslo", "8:25", "8:57", tilting, "sek 195.00 0.95", daily},
	{"NX", 1000, "København 38 Malmö 152 Göteborg",
		"6:12-18:12/6h", "5:40-17:40/6h", regio, "sek 45.00 1.10", daily},

	// Poland
	{"VE", 5300, "Gdańsk 163 Warszawa/10 143 Kraków",
		"5:47 13:47", "5:54 13:54", tilting, "pln 49.00 0.35", daily},
	{"VE", 6300, "Kraków 196 Wrocław 172 Poznań", "7:10", "6:35", local, "pln 19.00 0.20", daily},
	{"VE", 60, "Berlin 248 Wrocław 198 Kraków", "10:37", "6:17", ecEast, "eur 14.90 0.07", daily},
	{"VE", 100, "Warszawa 148 Kraków/6 318 Wien", "6:02", "8:10", ecEast, "eur 14.90 0.07", daily},

	// The Southeast
	{"CR", 1600, "București 158 Brașov", "6:15 16:15", "6:30 16:30", local, "ron 12.00 0.30", daily},
	{"BK", 460, "București 152 Ruse/35 402 Sofia", "9:10", "8:00", plain, "eur 6.00 0.05", daily},
	{"BK", 490, "Beograd 640 Sofia", "8:20", "8:05", plain, "eur 6.00 0.05", daily},
	{"BK", 360, "Sofia 420 Thessaloníki", "7:00", "15:20", plain, "eur 6.00 0.05", daily},
	{"BK", 1620, "Sofia 152 Plovdiv", "6:35 16:35", "7:10 17:10", regio, "eur 2.00 0.04", daily},
	{"AE", 50, "Athína 248 Thessaloníki", "6:22 14:22", "6:10 14:10", alfa, "eur 9.00 0.09", daily},

	// Night trains
	{"NF", 470, "Berlin 132 Hannover 228 Köln/20 200 Bruxelles/15 140 Paris-Nord",
		"20:18", "20:25", night, "eur 39.00 0.06", daily},
	{"NF", 290, "Wien 282 +Villach/12 345 -Bologna/10 58 -Firenze/10 160 Roma",
		"19:18", "19:10", night, "eur 39.00 0.07", daily},
	{"NF", 400, "Zürich 67 Basel/12 408 Hannover/8 92 Hamburg",
		"21:59", "20:44", night, "eur 39.00 0.06", daily},
	{"NF", 420, "Amsterdam 178 Köln/20 440 Basel/10 62 Zürich",
		"20:32", "21:05", nightPets, "eur 39.00 0.06", daily},
	{"NF", 425, "Bruxelles 182 Köln/22 330 Nürnberg/15 265 Wien",
		"19:32", "19:45", night, "eur 39.00 0.06", daily},
	{"NF", 468, "Paris-Est 150 Strasbourg/12 355 München/12 115 Salzburg/8 178 Wien",
		"19:12", "18:33", night, "eur 39.00 0.06", daily},
	{"NF", 450, "Berlin 265 Wrocław/10 436 Wien", "18:49", "21:10", nightPets, "eur 29.00 0.06", daily},
	{"NF", 300, "Stockholm 302 Malmö/20 395 Hamburg/18 152 Berlin",
		"16:23", "18:40", night, "sek 495.00 0.60", daily},
	{"NF", 460, "Zürich 232 Innsbruck/10 420 Ljubljana/12 145 Zagreb",
		"20:40", "18:25", night, "eur 29.00 0.06", daily},
	{"NF", 294, "München 122 Salzburg/10 455 Bologna/6 60 Firenze/8 168 Roma",
		"20:10", "19:02", nightPets, "eur 39.00 0.06", daily},
	{"NF", 406, "Warszawa 172 Kraków/20 412 Bratislava/12 172 Budapest",
		"19:25", "19:48", nightOld, "eur 19.00 0.06", daily},
	{"NF", 346, "Wien 165 Budapest/15 760 Brașov/10 165 București",
		"19:42", "14:45", nightOld, "eur 29.00 0.05", daily},
	{"NF", 350, "Wien 165 Budapest/15 205 Beograd/25 620 Sofia/20 155 Plovdiv/10 225 Kapıkule/90 248 Halkalı",
		"15:42", "7:00", nightOld, "eur 29.00 0.04", daily},
	{"NF", 354, "Budapest 205 Beograd/25 880 Thessaloníki/20 255 Athína",
		"14:40", "15:20", nightOld, "eur 19.00 0.05", daily},
	{"NF", 330, "Lisboa 628 Madrid", "21:34", "21:43", nightPets, "eur 25.00 0.05", daily},
	{"NF", 334, "Porto 640 Madrid", "20:40", "22:05", nightOld, "eur 19.00 0.05", daily},
	{"NF", 490, "Sofia 155 Plovdiv/10 225 Kapıkule/90 248 Halkalı",
		"18:40", "20:00", nightOld, "eur 9.00 0.04", daily},
	{"NF", 480, "București 152 Ruse/40 470 Kapıkule/90 248 Halkalı",
		"11:50", "19:20", nightOld, "eur 15.00 0.04", daily},
	{"NF", 600, "Athína 334 Thessaloníki", "23:55", "23:10", stock{}, "eur 7.00 0.05", daily},
}
