package mongo

import (
	"context"
	"errors"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

func TestTransactions(t *testing.T) {
	collection := fresh(t)
	_, err := collection.InsertMany(ctx, []any{bson.M{"_id": 1, "n": 10}, bson.M{"_id": 2, "n": 0}})
	must(t, err)
	session, err := collection.Database().Client().StartSession()
	must(t, err)
	defer session.EndSession(ctx)
	move := func(inside context.Context) (any, error) {
		if _, err := collection.UpdateOne(inside, bson.M{"_id": 1}, bson.M{"$inc": bson.M{"n": -4}}); err != nil {
			return nil, err
		}
		return collection.UpdateOne(inside, bson.M{"_id": 2}, bson.M{"$inc": bson.M{"n": 4}})
	}
	_, err = session.WithTransaction(ctx, move)
	must(t, err)
	failure := errors.New("no")
	_, err = session.WithTransaction(ctx, func(inside context.Context) (any, error) {
		if _, err := collection.DeleteMany(inside, bson.M{}); err != nil {
			return nil, err
		}
		return nil, failure
	})
	equal(t, err, failure)
	cursor, err := collection.Find(ctx, bson.M{}, options.Find().SetSort(bson.M{"_id": 1}))
	found := all(t, cursor, err)
	equal(t, len(found), 2)
	equal[any](t, found[0]["n"], int32(6))
	equal[any](t, found[1]["n"], int32(4))
}

func TestChangeStreams(t *testing.T) {
	collection := fresh(t)
	_, err := collection.InsertOne(ctx, bson.M{"_id": "before"})
	must(t, err)
	stream, err := collection.Watch(ctx, mongo.Pipeline{})
	must(t, err)
	defer func() { must(t, stream.Close(ctx)) }()
	_, err = collection.InsertOne(ctx, bson.M{"_id": 1})
	must(t, err)
	_, err = collection.UpdateOne(ctx, bson.M{"_id": 1}, bson.M{"$set": bson.M{"a": 1}})
	must(t, err)
	var kinds []string
	bounded := within(t, 20*time.Second)
	for len(kinds) < 2 && stream.Next(bounded) {
		var event struct {
			OperationType string `bson:"operationType"`
		}
		must(t, stream.Decode(&event))
		kinds = append(kinds, event.OperationType)
	}
	must(t, stream.Err())
	equal(t, len(kinds), 2)
	equal(t, kinds[0], "insert")
	equal(t, kinds[1], "update")
}
