package main

// A station is one line of stops.txt. The key is what the lines call it.
type station struct {
	key, id, name, address, country string
	latitude, longitude             float64
}

// zones are the time zones of the countries.
var zones = map[string]string{
	"AT": "Europe/Vienna", "BE": "Europe/Brussels", "BG": "Europe/Sofia", "CH": "Europe/Zurich",
	"CZ": "Europe/Prague", "DE": "Europe/Berlin", "DK": "Europe/Copenhagen", "ES": "Europe/Madrid",
	"FR": "Europe/Paris", "GB": "Europe/London", "GR": "Europe/Athens", "HR": "Europe/Zagreb",
	"HU": "Europe/Budapest", "IT": "Europe/Rome", "LU": "Europe/Luxembourg", "NL": "Europe/Amsterdam",
	"NO": "Europe/Oslo", "PL": "Europe/Warsaw", "PT": "Europe/Lisbon", "RO": "Europe/Bucharest",
	"RS": "Europe/Belgrade", "SE": "Europe/Stockholm", "SI": "Europe/Ljubljana", "SK": "Europe/Bratislava",
	"TR": "Europe/Istanbul",
}

// stations are real ones, with their names as their travellers write them.
var stations = []station{
	// Germany
	{"Berlin", "efdbb9d1-02c2-4bc3-afb7-6788d8782b1e", "Berlin Hauptbahnhof", "Europaplatz 1, 10557 Berlin", "DE", 52.5251, 13.3694},
	{"Dresden", "33058ec4-b980-4a50-a4b6-716e1128e570", "Dresden Hauptbahnhof", "Wiener Platz 4, 01069 Dresden", "DE", 51.0404, 13.7320},
	{"Erfurt", "b2d45090-48fd-4b57-bff7-b2890d26f587", "Erfurt Hauptbahnhof", "Willy-Brandt-Platz 12, 99084 Erfurt", "DE", 50.9725, 11.0379},
	{"Frankfurt", "23203df6-d931-4e4a-83e8-7d55bcecae89", "Frankfurt (Main) Hauptbahnhof", "Am Hauptbahnhof, 60329 Frankfurt am Main", "DE", 50.1071, 8.6638},
	{"Halle", "9550d516-70ef-4282-9603-08dbc76402ce", "Halle (Saale) Hauptbahnhof", "Hans-Dietrich-Genscher-Platz, 06112 Halle (Saale)", "DE", 51.4776, 11.9872},
	{"Hamburg", "3d46a706-a840-4dcb-8159-51f950905b01", "Hamburg Hauptbahnhof", "Hachmannplatz 16, 20099 Hamburg", "DE", 53.5527, 10.0066},
	{"Hannover", "04383fb3-ff5d-4593-8a0c-fc28bafb3f09", "Hannover Hauptbahnhof", "Ernst-August-Platz 1, 30159 Hannover", "DE", 52.3769, 9.7410},
	{"Köln", "e30b2b8e-2eb2-42b9-a1af-a66d458cc7ac", "Köln Hauptbahnhof", "Trankgasse 11, 50667 Köln", "DE", 50.9430, 6.9589},
	{"München", "723151b8-1bd4-409c-b5f6-e95addf24f9b", "München Hauptbahnhof", "Bayerstraße 10A, 80335 München", "DE", 48.1402, 11.5583},
	{"Nürnberg", "f9256fd9-4ff9-4847-ae3e-0da71001600a", "Nürnberg Hauptbahnhof", "Bahnhofsplatz, 90443 Nürnberg", "DE", 49.4457, 11.0825},
	{"Stuttgart", "b105cf8b-8ec5-4598-a963-89eec24fc369", "Stuttgart Hauptbahnhof", "Arnulf-Klett-Platz 2, 70173 Stuttgart", "DE", 48.7840, 9.1817},

	// Austria
	{"Graz", "f5cc879c-be60-4a40-af10-cb2548566fe1", "Graz Hauptbahnhof", "Europaplatz, 8020 Graz", "AT", 47.0727, 15.4166},
	{"Innsbruck", "425a9ddf-99ae-4628-98c8-def7b5348f67", "Innsbruck Hauptbahnhof", "Südtiroler Platz, 6020 Innsbruck", "AT", 47.2633, 11.4009},
	{"Salzburg", "f53df4c4-cc0f-4edd-b5b0-ca5671acacb5", "Salzburg Hauptbahnhof", "Südtiroler Platz 1, 5020 Salzburg", "AT", 47.8130, 13.0457},
	{"Villach", "cb2485ef-0ea5-4d64-bec8-75860d9be967", "Villach Hauptbahnhof", "Bahnhofplatz, 9500 Villach", "AT", 46.6184, 13.8488},
	{"Wien", "fac4e3b1-9811-4cdb-8b9e-cc0361015b3b", "Wien Hauptbahnhof", "Am Hauptbahnhof 1, 1100 Wien", "AT", 48.1852, 16.3767},

	// Switzerland
	{"Basel", "d8ceca10-199e-4235-875b-7764b83bb628", "Basel SBB", "Centralbahnplatz, 4051 Basel", "CH", 47.5474, 7.5896},
	{"Bern", "0c99225f-73e2-45a8-ace7-546596cdef3a", "Bern", "Bahnhofplatz, 3011 Bern", "CH", 46.9488, 7.4391},
	{"Genève", "7e4eec6c-3109-48bf-bb8d-7c233792ab8e", "Genève", "Place de Cornavin 7, 1201 Genève", "CH", 46.2102, 6.1424},
	{"Zürich", "2fe69612-bd55-4b7c-84f3-1581b26b37fd", "Zürich HB", "Bahnhofplatz, 8001 Zürich", "CH", 47.3781, 8.5402},

	// France
	{"Lyon", "63929560-9445-49b5-b916-464f71d28d8e", "Lyon Part-Dieu", "5 Place Charles Béraudier, 69003 Lyon", "FR", 45.7605, 4.8597},
	{"Marseille", "893b0738-0a57-48a4-b194-fb7fb2747444", "Marseille Saint-Charles", "Square Narvik, 13001 Marseille", "FR", 43.3028, 5.3804},
	{"Paris-Est", "67a360cc-a3c9-49c6-bb15-e7c5c81a588f", "Paris Gare de l'Est", "Place du 11 Novembre 1918, 75010 Paris", "FR", 48.8768, 2.3592},
	{"Paris-Lyon", "de46f550-73bc-4f71-afcd-3c2953ecbf14", "Paris Gare de Lyon", "Place Louis-Armand, 75012 Paris", "FR", 48.8443, 2.3743},
	{"Paris-Nord", "b2e783e1-c824-4d63-b37a-d8d698862f1d", "Paris Gare du Nord", "18 Rue de Dunkerque, 75010 Paris", "FR", 48.8809, 2.3553},
	{"Strasbourg", "93cfc42d-ad71-482f-848e-373182f8a959", "Strasbourg", "20 Place de la Gare, 67000 Strasbourg", "FR", 48.5851, 7.7343},

	// The Low Countries
	{"Amsterdam", "9ce38179-7c78-49fd-a973-416ce7a46185", "Amsterdam Centraal", "Stationsplein, 1012 AB Amsterdam", "NL", 52.3789, 4.9003},
	{"Antwerpen", "07eb5b75-7f5a-4cdd-828c-27e16285a908", "Antwerpen-Centraal", "Koningin Astridplein 27, 2018 Antwerpen", "BE", 51.2171, 4.4211},
	{"Bruxelles", "643d1686-c6e0-4f10-9b58-ac92459eba84", "Bruxelles-Midi", "Avenue Fonsny 47B, 1060 Bruxelles", "BE", 50.8357, 4.3365},
	{"Luxembourg", "5047492c-9231-4765-8954-bb54b620d470", "Luxembourg", "Place de la Gare, 1616 Luxembourg", "LU", 49.5999, 6.1340},
	{"Rotterdam", "5273b5ee-6fae-4e2f-a913-c611136aa968", "Rotterdam Centraal", "Stationsplein 1, 3013 AJ Rotterdam", "NL", 51.9250, 4.4693},

	// Great Britain
	{"Edinburgh", "70b2a06f-7141-4a87-a29d-ceff2fdb9a54", "Edinburgh Waverley", "Waverley Bridge, Edinburgh EH1 1BB", "GB", 55.9520, -3.1900},
	{"London-KX", "46da106e-76b4-45ab-a354-b58b6ca92dd5", "London King's Cross", "Euston Road, London N1 9AL", "GB", 51.5308, -0.1233},
	{"London", "319dc5f1-ad0b-46d2-ad06-f929c38bbfc4", "London St Pancras International", "Euston Road, London N1C 4QP", "GB", 51.5314, -0.1261},

	// The North
	{"Göteborg", "31f27c40-ce52-41b1-bb03-2d30f4f3e362", "Göteborg C", "Drottningtorget 5, 411 03 Göteborg", "SE", 57.7089, 11.9733},
	{"København", "bfb6ceef-7167-4162-a61e-a456042a6175", "København H", "Bernstorffsgade 16, 1577 København", "DK", 55.6728, 12.5646},
	{"Malmö", "f68974d2-e4c0-49c8-b327-4b3362767557", "Malmö C", "Centralplan, 211 20 Malmö", "SE", 55.6093, 13.0007},
	{"Oslo", "090f71db-bfa7-4a68-af79-a6590604bb47", "Oslo S", "Jernbanetorget 1, 0154 Oslo", "NO", 59.9109, 10.7530},
	{"Stockholm", "df1b6e48-f606-45d0-bbd9-1c67f1b91ed6", "Stockholm C", "Centralplan 15, 111 20 Stockholm", "SE", 59.3301, 18.0582},

	// Poland, Czechia, Slovakia, Hungary
	{"Bratislava", "d403f7a4-7612-40a4-ab82-06821a376fb0", "Bratislava hlavná stanica", "Predstaničné námestie 1, 811 04 Bratislava", "SK", 48.1588, 17.1067},
	{"Brno", "cee8166c-7e84-4993-b57b-cc0c57324563", "Brno hlavní nádraží", "Nádražní, 602 00 Brno", "CZ", 49.1907, 16.6128},
	{"Budapest", "d49e298c-9804-4347-a1a4-4ec45b8f159e", "Budapest-Keleti", "Kerepesi út 2–4, 1087 Budapest", "HU", 47.5003, 19.0840},
	{"Gdańsk", "b6107384-01ca-453c-8325-c0722466f656", "Gdańsk Główny", "Podwale Grodzkie 1, 80-895 Gdańsk", "PL", 54.3556, 18.6443},
	{"Kraków", "72256835-f3b6-4cc2-8818-f840179b26e5", "Kraków Główny", "Pawia 5A, 31-154 Kraków", "PL", 50.0677, 19.9477},
	{"Poznań", "b2dbc570-2ee5-4343-9aa7-538b158cfc71", "Poznań Główny", "Dworcowa 2, 61-801 Poznań", "PL", 52.4018, 16.9115},
	{"Praha", "d7ef7466-ecca-4aa9-b1af-041bef2dc1a7", "Praha hlavní nádraží", "Wilsonova 300/8, 120 00 Praha 2", "CZ", 50.0830, 14.4353},
	{"Warszawa", "7c1dab7a-7ab4-45cd-be4f-15442eb0e0b9", "Warszawa Centralna", "Aleje Jerozolimskie 54, 00-024 Warszawa", "PL", 52.2289, 21.0032},
	{"Wrocław", "a0ae2380-4153-41a5-b882-e9a3526eb7b5", "Wrocław Główny", "Piłsudskiego 105, 50-085 Wrocław", "PL", 51.0984, 17.0367},

	// Italy
	{"Bologna", "21c954c0-e21c-440f-9a8e-935258dfc655", "Bologna Centrale", "Piazza delle Medaglie d'Oro, 40121 Bologna", "IT", 44.5060, 11.3430},
	{"Firenze", "2d24e454-c890-4e44-ab24-afd01f62e6f0", "Firenze Santa Maria Novella", "Piazza della Stazione, 50123 Firenze", "IT", 43.7766, 11.2477},
	{"Milano", "50a0a5be-8538-472d-aeed-58fec56adf34", "Milano Centrale", "Piazza Duca d'Aosta 1, 20124 Milano", "IT", 45.4868, 9.2052},
	{"Napoli", "9bdc5e06-2ded-417c-bd35-2f791e3d45f5", "Napoli Centrale", "Piazza Garibaldi, 80142 Napoli", "IT", 40.8529, 14.2728},
	{"Roma", "f8a1e981-04cd-4c20-88cf-d886cd66704e", "Roma Termini", "Piazza dei Cinquecento 1, 00185 Roma", "IT", 41.9009, 12.5018},
	{"Venezia", "716999cc-619d-43e3-b75c-0c6d5300c47d", "Venezia Santa Lucia", "Fondamenta Santa Lucia, 30121 Venezia", "IT", 45.4411, 12.3209},

	// Spain and Portugal
	{"Barcelona", "49ead4f5-2e83-47b9-b0e1-12d86edf0a03", "Barcelona Sants", "Plaça dels Països Catalans, 08014 Barcelona", "ES", 41.3791, 2.1400},
	{"Lisboa", "67055b1c-14bb-4c04-965d-ca542707c73a", "Lisboa Oriente", "Avenida Dom João II, 1990-233 Lisboa", "PT", 38.7678, -9.0991},
	{"Madrid", "69b3be19-3c34-4111-b4ba-7778e861131a", "Madrid Puerta de Atocha", "Plaza del Emperador Carlos V, 28045 Madrid", "ES", 40.4066, -3.6894},
	{"Porto", "9cbc12c9-2011-441c-a6c0-d9cca3fcb4ea", "Porto Campanhã", "Porto", "PT", 41.1487, -8.5856},
	{"Sevilla", "db4c9b18-d7b2-46ca-9e40-e49c6828afd8", "Sevilla Santa Justa", "Avenida de Kansas City, 41007 Sevilla", "ES", 37.3920, -5.9757},
	{"Zaragoza", "0303543f-a7e9-4089-bfcf-27385217e5b6", "Zaragoza-Delicias", "Calle Rioja, 50011 Zaragoza", "ES", 41.6587, -0.9113},

	// The Southeast
	{"Beograd", "626b6e48-e149-4c8a-a1fa-ea6293cd20de", "Београд Центар", "Београд", "RS", 44.7943, 20.4554},
	{"Brașov", "b53d4882-329a-49a8-93f6-a32dd1a31969", "Brașov", "Bulevardul Gării, Brașov", "RO", 45.6604, 25.6131},
	{"București", "2afba9ed-4fae-4494-9c94-89258d767abe", "București Nord", "Piața Gării de Nord 1, București", "RO", 44.4462, 26.0743},
	{"Halkalı", "3dd20372-4433-4155-90a1-36a2ec552503", "İstanbul Halkalı", "Küçükçekmece, İstanbul", "TR", 41.0186, 28.7667},
	{"Kapıkule", "a7f3b564-5334-4544-9035-1faf4c2d1baa", "Kapıkule", "Kapıkule, Edirne", "TR", 41.7180, 26.3590},
	{"Ljubljana", "15c54b07-e261-4fc1-b078-f0f3d3a9139d", "Ljubljana", "Trg Osvobodilne fronte, 1000 Ljubljana", "SI", 46.0580, 14.5100},
	{"Zagreb", "33b44833-6739-4cb0-8b12-1183206e6c40", "Zagreb Glavni kolodvor", "Trg kralja Tomislava 12, 10000 Zagreb", "HR", 45.8047, 15.9787},
	{"Athína", "e74a7b4d-335c-48f9-a3e3-97841e3e8b13", "Αθήνα", "Θεοδώρου Δηλιγιάννη, Αθήνα", "GR", 37.9924, 23.7211},
	{"Thessaloníki", "f759b454-c8f9-408d-82a5-40d6bd45659a", "Θεσσαλονίκη", "Μοναστηρίου, Θεσσαλονίκη", "GR", 40.6443, 22.9293},
	{"Plovdiv", "d0a089c0-9e6d-40f9-9d87-bd93788eb3ea", "Пловдив", "бул. Христо Ботев, Пловдив", "BG", 42.1343, 24.7412},
	{"Ruse", "33f90746-0ea7-4e2e-96d7-16284b80b985", "Русе", "Русе", "BG", 43.8346, 25.9556},
	{"Sofia", "682783ff-a741-464f-ba3a-289699fec98c", "София", "бул. Княгиня Мария Луиза 102, 1202 София", "BG", 42.7119, 23.3212},
}

// A crossing is the way between two stations of a city that are too far apart
// to walk, or where papers are checked, and the minutes it takes at least.
type crossing struct {
	a, b    string // their keys
	minutes int
}

// crossings are all that there are between stations of one city.
var crossings = []crossing{
	{"Paris-Est", "Paris-Nord", 20},
	{"Paris-Est", "Paris-Lyon", 45},
	{"Paris-Lyon", "Paris-Nord", 45},
	{"London", "London-KX", 30},
}
