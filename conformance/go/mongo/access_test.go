package mongo

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"armilla/conformance/server"
)

func TestWaysToConnect(t *testing.T) {
	for _, query := range []string{
		"",
		"&replicaSet=globaldb",
		"&directConnection=true",
		"&authMechanism=SCRAM-SHA-1",
		"&authMechanism=SCRAM-SHA-256",
		"&authSource=anything",
		"&compressors=zlib",
		"&compressors=zstd",
		"&compressors=snappy",
		"&retryWrites=false",
	} {
		t.Run(query, func(t *testing.T) {
			client := connect(t, server.Key, query)
			must(t, client.Ping(ctx, nil))
			notes := client.Database("access").Collection("notes")
			_, err := notes.UpdateOne(ctx, bson.M{"_id": 1}, bson.M{"$set": bson.M{"text": string(make([]byte, 50_000))}},
				options.UpdateOne().SetUpsert(true))
			must(t, err)
			var found struct{ Text string }
			must(t, notes.FindOne(ctx, bson.M{"_id": 1}).Decode(&found))
			equal(t, len(found.Text), 50_000)
		})
	}
}

func TestWithoutTLS(t *testing.T) {
	client, err := mongo.Connect(options.Client().ApplyURI("mongodb://" + running.Mongo).
		SetAuth(options.Credential{Username: account, Password: server.Key}))
	must(t, err)
	defer func() { must(t, client.Disconnect(ctx)) }()
	must(t, client.Ping(ctx, nil))
}

func TestAWrongKey(t *testing.T) {
	refused(t, connect(t, "wrong", "").Ping(ctx, nil), 18)
}

func TestTheServerSaysWhatItIs(t *testing.T) {
	client := connect(t, server.Key, "")
	var hello struct {
		SetName           string `bson:"setName"`
		IsWritablePrimary bool   `bson:"isWritablePrimary"`
		Hosts             []string
	}
	must(t, client.Database("admin").RunCommand(ctx, bson.D{{Key: "hello", Value: 1}}).Decode(&hello))
	equal(t, hello.SetName, "globaldb")
	equal(t, hello.IsWritablePrimary, true)
	equal(t, hello.Hosts[0], running.Mongo)
}

func TestCommandsOfTheService(t *testing.T) {
	database := connect(t, server.Key, "").Database("service")
	defer func() { must(t, database.Drop(ctx)) }()
	run := func(command bson.D) bson.M {
		t.Helper()
		var answer bson.M
		must(t, database.RunCommand(ctx, command).Decode(&answer))
		return answer
	}
	run(bson.D{{Key: "customAction", Value: "CreateCollection"}, {Key: "collection", Value: "made"}, {Key: "offerThroughput", Value: 500}})
	found := run(bson.D{{Key: "customAction", Value: "GetCollection"}, {Key: "collection", Value: "made"}})
	equal[any](t, found["provisionedThroughput"], int32(500))
	run(bson.D{{Key: "shardCollection", Value: "service.people"}, {Key: "key", Value: bson.M{"city": "hashed"}}})
	_, err := database.Collection("people").InsertOne(ctx, bson.M{"_id": 1})
	refused(t, err, 61)
}
