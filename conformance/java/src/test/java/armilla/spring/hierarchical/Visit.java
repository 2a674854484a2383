package armilla.spring.hierarchical;

import com.azure.spring.data.cosmos.core.mapping.Container;
import org.springframework.data.annotation.Id;

/** An entity with a hierarchical partition key. */
@Container(containerName = "visits", hierarchicalPartitionKeyPaths = {"/country", "/city"})
public class Visit {
    @Id
    private String id;

    private String country;
    private String city;

    public Visit() {}

    public Visit(String id, String country, String city) {
        this.id = id;
        this.country = country;
        this.city = city;
    }

    public String getId() {
        return id;
    }

    public void setId(String id) {
        this.id = id;
    }

    public String getCountry() {
        return country;
    }

    public void setCountry(String country) {
        this.country = country;
    }

    public String getCity() {
        return city;
    }

    public void setCity(String city) {
        this.city = city;
    }
}
