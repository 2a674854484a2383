package armilla.spring.hierarchical;

import com.azure.spring.data.cosmos.repository.CosmosRepository;
import java.util.List;

public interface VisitRepository extends CosmosRepository<Visit, String> {
    List<Visit> findByCountry(String country);

    List<Visit> findByCountryAndCity(String country, String city);
}
