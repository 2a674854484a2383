package cosmos

import (
	"net/http"
	"reflect"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

func TestContainers(t *testing.T) {
	database := makeDatabase(t, connect(t, nil))
	properties := azcosmos.ContainerProperties{
		ID:                     "orders",
		PartitionKeyDefinition: byCity,
		DefaultTimeToLive:      ptr(int32(3600)),
		UniqueKeyPolicy:        &azcosmos.UniqueKeyPolicy{UniqueKeys: []azcosmos.UniqueKey{{Paths: []string{"/number"}}}},
		ConflictResolutionPolicy: &azcosmos.ConflictResolutionPolicy{
			Mode: azcosmos.ConflictResolutionModeLastWriteWins, ResolutionPath: "/stamp",
		},
		IndexingPolicy: &azcosmos.IndexingPolicy{
			Automatic:      true,
			IndexingMode:   azcosmos.IndexingModeConsistent,
			IncludedPaths:  []azcosmos.IncludedPath{{Path: "/*"}},
			ExcludedPaths:  []azcosmos.ExcludedPath{{Path: "/blob/*"}, {Path: `/"_etag"/?`}},
			SpatialIndexes: []azcosmos.SpatialIndex{{Path: "/place/*", SpatialTypes: []azcosmos.SpatialType{azcosmos.SpatialTypePoint}}},
			CompositeIndexes: [][]azcosmos.CompositeIndex{{
				{Path: "/city", Order: azcosmos.CompositeIndexAscending},
				{Path: "/number", Order: azcosmos.CompositeIndexDescending},
			}},
		},
	}
	created, err := database.CreateContainer(ctx, properties, nil)
	must(t, err)
	equal(t, created.RawResponse.StatusCode, http.StatusCreated)
	equal(t, created.ContainerProperties.PartitionKeyDefinition.Paths[0], "/city")
	_, err = database.CreateContainer(ctx, properties, nil)
	refused(t, err, http.StatusConflict)

	container, err := database.NewContainer("orders")
	must(t, err)
	equal(t, container.ID(), "orders")
	read, err := container.Read(ctx, &azcosmos.ReadContainerOptions{PopulateQuotaInfo: true})
	must(t, err)
	for _, header := range []string{"x-ms-resource-quota", "x-ms-resource-usage"} {
		if read.RawResponse.Header.Get(header) == "" {
			t.Errorf("%s was asked for", header)
		}
	}
	found := read.ContainerProperties
	equal(t, *found.DefaultTimeToLive, 3600)
	equal(t, found.UniqueKeyPolicy.UniqueKeys[0].Paths[0], "/number")
	equal(t, found.ConflictResolutionPolicy.ResolutionPath, "/stamp")
	if !reflect.DeepEqual(found.IndexingPolicy.CompositeIndexes, properties.IndexingPolicy.CompositeIndexes) {
		t.Errorf("%+v", found.IndexingPolicy.CompositeIndexes)
	}
	equal(t, found.IndexingPolicy.SpatialIndexes[0].Path, "/place/*")

	found.DefaultTimeToLive = nil
	found.IndexingPolicy.ExcludedPaths = append(found.IndexingPolicy.ExcludedPaths, azcosmos.ExcludedPath{Path: "/more/*"})
	replaced, err := container.Replace(ctx, *found, nil)
	must(t, err)
	equal(t, replaced.ContainerProperties.DefaultTimeToLive == nil, true)
	equal(t, len(replaced.ContainerProperties.IndexingPolicy.ExcludedPaths), 3)

	deleted, err := container.Delete(ctx, nil)
	must(t, err)
	equal(t, deleted.RawResponse.StatusCode, http.StatusNoContent)
	_, err = container.Read(ctx, nil)
	refused(t, err, http.StatusNotFound)
}

func TestQueryOfContainers(t *testing.T) {
	database := makeDatabase(t, connect(t, nil))
	for _, id := range []string{"a", "b"} {
		_, err := database.CreateContainer(ctx, azcosmos.ContainerProperties{ID: id, PartitionKeyDefinition: byCity}, nil)
		must(t, err)
	}
	pages := drain(t, database.NewQueryContainersPager("SELECT * FROM c WHERE c.id = @id", &azcosmos.QueryContainersOptions{
		QueryParameters: []azcosmos.QueryParameter{{Name: "@id", Value: "b"}},
	}))
	equal(t, len(pages[0].Containers), 1)
	equal(t, pages[0].Containers[0].ID, "b")
	equal(t, len(drain(t, database.NewQueryContainersPager("SELECT * FROM c", nil))[0].Containers), 2)
}

func TestVectorAndFullTextPolicies(t *testing.T) {
	container := makeContainer(t, func(properties *azcosmos.ContainerProperties) {
		properties.VectorEmbeddingPolicy = &azcosmos.VectorEmbeddingPolicy{VectorEmbeddings: []azcosmos.VectorEmbedding{{
			Path: "/vector", DataType: azcosmos.VectorDataTypeFloat32, Dimensions: 3,
			DistanceFunction: azcosmos.VectorDistanceFunctionCosine,
		}}}
		properties.FullTextPolicy = &azcosmos.FullTextPolicy{
			DefaultLanguage: "en-US", FullTextPaths: []azcosmos.FullTextPath{{Path: "/text", Language: "en-US"}},
		}
		properties.IndexingPolicy = &azcosmos.IndexingPolicy{
			Automatic: true, IndexingMode: azcosmos.IndexingModeConsistent,
			IncludedPaths:   []azcosmos.IncludedPath{{Path: "/*"}},
			VectorIndexes:   []azcosmos.VectorIndex{{Path: "/vector", Type: azcosmos.VectorIndexTypeFlat}},
			FullTextIndexes: []azcosmos.FullTextIndex{{Path: "/text"}},
		}
	})
	read, err := container.Read(ctx, nil)
	must(t, err)
	equal(t, read.ContainerProperties.VectorEmbeddingPolicy.VectorEmbeddings[0].Dimensions, 3)
	equal(t, read.ContainerProperties.FullTextPolicy.FullTextPaths[0].Path, "/text")
	equal(t, read.ContainerProperties.IndexingPolicy.VectorIndexes[0].Type, azcosmos.VectorIndexTypeFlat)
	equal(t, read.ContainerProperties.IndexingPolicy.FullTextIndexes[0].Path, "/text")
}

func TestThroughputOfAContainer(t *testing.T) {
	database := makeDatabase(t, connect(t, nil))
	autoscale := azcosmos.NewAutoscaleThroughputProperties(4000)
	_, err := database.CreateContainer(ctx, azcosmos.ContainerProperties{ID: "c", PartitionKeyDefinition: byCity},
		&azcosmos.CreateContainerOptions{ThroughputProperties: &autoscale})
	must(t, err)
	container, err := database.NewContainer("c")
	must(t, err)
	read, err := container.ReadThroughput(ctx, nil)
	must(t, err)
	most, isAutoscale := read.ThroughputProperties.AutoscaleMaxThroughput()
	equal(t, isAutoscale, true)
	equal(t, most, 4000)
	if read.MinThroughput == nil || *read.MinThroughput != 1000 {
		t.Errorf("the least maximum is 1000, not %v", read.MinThroughput)
	}

	_, err = container.ReplaceThroughput(ctx, azcosmos.NewAutoscaleThroughputPropertiesWithIncrement(5000, 10), nil)
	must(t, err)
	read, err = container.ReadThroughput(ctx, &azcosmos.ThroughputOptions{})
	must(t, err)
	most, _ = read.ThroughputProperties.AutoscaleMaxThroughput()
	equal(t, most, 5000)
	increment, has := read.ThroughputProperties.AutoscaleIncrement()
	equal(t, has, true)
	equal(t, increment, 10)

	_, err = container.ReplaceThroughput(ctx, azcosmos.NewAutoscaleThroughputProperties(6000),
		&azcosmos.ThroughputOptions{IfMatchEtag: ptr(azcore.ETag(`"stale"`))})
	refused(t, err, http.StatusPreconditionFailed)
}
