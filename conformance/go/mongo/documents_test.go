package mongo

import (
	"reflect"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

func TestADocumentLivesThroughEveryVerb(t *testing.T) {
	collection := fresh(t)
	inserted, err := collection.InsertOne(ctx, bson.D{{Key: "name", Value: "Ann"}, {Key: "age", Value: 39}})
	must(t, err)
	if _, ok := inserted.InsertedID.(bson.ObjectID); !ok {
		t.Fatalf("%T", inserted.InsertedID)
	}
	updated, err := collection.UpdateOne(ctx, bson.M{"name": "Ann"}, bson.M{"$inc": bson.M{"age": 1}})
	must(t, err)
	equal(t, updated.ModifiedCount, 1)
	var found bson.M
	must(t, collection.FindOne(ctx, bson.M{"age": 40}).Decode(&found))
	equal[any](t, found["age"], int32(40))
	replaced, err := collection.ReplaceOne(ctx, bson.M{}, bson.M{"name": "Bob"})
	must(t, err)
	equal(t, replaced.MatchedCount, 1)
	after := options.FindOneAndUpdate().SetReturnDocument(options.After)
	must(t, collection.FindOneAndUpdate(ctx, bson.M{}, bson.M{"$set": bson.M{"x": 1}}, after).Decode(&found))
	equal[any](t, found["x"], int32(1))
	deleted, err := collection.DeleteOne(ctx, bson.M{})
	must(t, err)
	equal(t, deleted.DeletedCount, 1)
	equal(t, collection.FindOne(ctx, bson.M{}).Err(), mongo.ErrNoDocuments)
}

func TestTypes(t *testing.T) {
	decimal, err := bson.ParseDecimal128("1.10")
	must(t, err)
	document := bson.D{
		{Key: "_id", Value: int32(1)},
		{Key: "double", Value: 1.0},
		{Key: "int32", Value: int32(7)},
		{Key: "int64", Value: int64(1<<53 + 1)},
		{Key: "decimal", Value: decimal},
		{Key: "string", Value: "é日😀"},
		{Key: "object", Value: bson.D{{Key: "b", Value: int32(1)}, {Key: "a", Value: bson.A{}}}},
		{Key: "array", Value: bson.A{int32(1), "two", bson.A{3.5}}},
		{Key: "binary", Value: bson.Binary{Subtype: 128, Data: []byte{0, 255}}},
		{Key: "objectid", Value: bson.NewObjectID()},
		{Key: "bool", Value: true},
		{Key: "date", Value: bson.NewDateTimeFromTime(time.UnixMilli(1577934245678))},
		{Key: "null", Value: nil},
		{Key: "regex", Value: bson.Regex{Pattern: "^a", Options: "im"}},
		{Key: "javascript", Value: bson.JavaScript("x")},
		{Key: "symbol", Value: bson.Symbol("y")},
		{Key: "undefined", Value: bson.Undefined{}},
		{Key: "dbpointer", Value: bson.DBPointer{DB: "a.b", Pointer: bson.NewObjectID()}},
		{Key: "scope", Value: bson.CodeWithScope{Code: "z", Scope: bson.D{{Key: "x", Value: int32(1)}}}},
		{Key: "timestamp", Value: bson.Timestamp{T: 4_000_000_000, I: 5}},
		{Key: "minkey", Value: bson.MinKey{}},
		{Key: "maxkey", Value: bson.MaxKey{}},
	}
	collection := fresh(t)
	_, err = collection.InsertOne(ctx, document)
	must(t, err)
	var found bson.D
	must(t, collection.FindOne(ctx, bson.M{"_id": 1}).Decode(&found))
	if !reflect.DeepEqual(found, document) {
		t.Errorf("%v instead of %v", found, document)
	}
}

func numbers(count int) []any {
	var documents []any
	for number := range count {
		documents = append(documents, bson.M{"_id": number, "n": number, "k": number % 3})
	}
	return documents
}

func TestQueriesAndPipelines(t *testing.T) {
	collection := fresh(t)
	_, err := collection.InsertMany(ctx, numbers(250))
	must(t, err)
	cursor, err := collection.Find(ctx, bson.M{"n": bson.M{"$gte": 100}}, options.Find().SetSort(bson.M{"n": -1}).SetBatchSize(20))
	found := all(t, cursor, err)
	equal(t, len(found), 150)
	equal[any](t, found[0]["_id"], int32(249))
	count, err := collection.CountDocuments(ctx, bson.M{"k": 1})
	must(t, err)
	equal(t, count, 83)
	count, err = collection.EstimatedDocumentCount(ctx)
	must(t, err)
	equal(t, count, 250)
	cursor, err = collection.Aggregate(ctx, bson.A{
		bson.M{"$group": bson.M{"_id": "$k", "n": bson.M{"$sum": 1}}},
		bson.M{"$sort": bson.M{"_id": 1}},
	})
	groups := all(t, cursor, err)
	equal(t, len(groups), 3)
	equal[any](t, groups[0]["n"], int32(84))
	var kinds []int32
	must(t, collection.Distinct(ctx, "k", bson.M{}).Decode(&kinds))
	equal(t, len(kinds), 3)
	_, err = collection.Find(ctx, bson.M{"a": bson.M{"$nonsense": 1}})
	refused(t, err, 2)
}

func TestBatchesOfWrites(t *testing.T) {
	collection := fresh(t)
	result, err := collection.BulkWrite(ctx, []mongo.WriteModel{
		mongo.NewInsertOneModel().SetDocument(bson.M{"_id": 1}),
		mongo.NewUpdateOneModel().SetFilter(bson.M{"_id": 2}).SetUpdate(bson.M{"$set": bson.M{"a": 1}}).SetUpsert(true),
		mongo.NewReplaceOneModel().SetFilter(bson.M{"_id": 1}).SetReplacement(bson.M{"b": 1}),
		mongo.NewDeleteManyModel().SetFilter(bson.M{"a": 1}),
	})
	must(t, err)
	equal(t, result.InsertedCount, 1)
	equal(t, result.UpsertedCount, 1)
	equal(t, result.ModifiedCount, 1)
	equal(t, result.DeletedCount, 1)
	_, err = collection.InsertMany(ctx, []any{bson.M{"_id": 5}, bson.M{"_id": 1}, bson.M{"_id": 6}}, options.InsertMany().SetOrdered(false))
	refused(t, err, 11000)
	count, err := collection.CountDocuments(ctx, bson.M{})
	must(t, err)
	equal(t, count, 3)
}

func TestIndexes(t *testing.T) {
	collection := fresh(t)
	name, err := collection.Indexes().CreateOne(ctx, mongo.IndexModel{
		Keys: bson.D{{Key: "email", Value: 1}}, Options: options.Index().SetUnique(true),
	})
	must(t, err)
	equal(t, name, "email_1")
	_, err = collection.InsertOne(ctx, bson.M{"email": "a"})
	must(t, err)
	_, err = collection.InsertOne(ctx, bson.M{"email": "a"})
	equal(t, mongo.IsDuplicateKeyError(err), true)
	specifications, err := collection.Indexes().ListSpecifications(ctx)
	must(t, err)
	equal(t, len(specifications), 2)
	_, err = collection.Indexes().CreateOne(ctx, mongo.IndexModel{Keys: bson.D{{Key: "other", Value: -1}}})
	must(t, err)
	must(t, collection.Indexes().DropOne(ctx, "other_-1"))
	refused(t, collection.Indexes().DropOne(ctx, "other_-1"), 27)
}

func TestNoIncrementIsLost(t *testing.T) {
	collection := fresh(t)
	_, err := collection.InsertOne(ctx, bson.M{"_id": 1, "n": 0})
	must(t, err)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 25 {
				if _, err := collection.UpdateOne(ctx, bson.M{"_id": 1}, bson.M{"$inc": bson.M{"n": 1}}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	var found struct{ N int }
	must(t, collection.FindOne(ctx, bson.M{}).Decode(&found))
	equal(t, found.N, 200)
}
