package armilla.spring;

import com.azure.spring.data.cosmos.core.mapping.Container;
import com.azure.spring.data.cosmos.core.mapping.CosmosIndexingPolicy;
import com.azure.spring.data.cosmos.core.mapping.PartitionKey;
import org.springframework.data.annotation.Id;
import org.springframework.data.annotation.Version;

/** An entity with one partition key and an etag. */
@Container(containerName = "customers", ru = "400")
@CosmosIndexingPolicy(includePaths = "/*", excludePaths = "/\"_etag\"/?")
public class Customer {
    @Id
    private String id;

    @PartitionKey
    private String city;

    private String name;
    private int age;

    @Version
    private String etag;

    public Customer() {}

    public Customer(String id, String city, String name, int age) {
        this.id = id;
        this.city = city;
        this.name = name;
        this.age = age;
    }

    public String getId() {
        return id;
    }

    public void setId(String id) {
        this.id = id;
    }

    public String getCity() {
        return city;
    }

    public void setCity(String city) {
        this.city = city;
    }

    public String getName() {
        return name;
    }

    public void setName(String name) {
        this.name = name;
    }

    public int getAge() {
        return age;
    }

    public void setAge(int age) {
        this.age = age;
    }

    public String getEtag() {
        return etag;
    }

    public void setEtag(String etag) {
        this.etag = etag;
    }
}
