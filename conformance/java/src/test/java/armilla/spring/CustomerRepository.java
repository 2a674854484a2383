package armilla.spring;

import com.azure.spring.data.cosmos.repository.CosmosRepository;
import com.azure.spring.data.cosmos.repository.Query;
import java.util.Collection;
import java.util.List;
import org.springframework.data.domain.Page;
import org.springframework.data.domain.Pageable;
import org.springframework.data.domain.Slice;
import org.springframework.data.domain.Sort;
import org.springframework.data.repository.query.Param;

/** Queries derived from names, and written out. */
public interface CustomerRepository extends CosmosRepository<Customer, String> {
    List<Customer> findByCity(String city);

    List<Customer> findByNameContainingIgnoreCase(String part);

    List<Customer> findByAgeBetween(int least, int most);

    List<Customer> findByAgeGreaterThanOrderByAgeDesc(int least);

    List<Customer> findByCityIn(Collection<String> cities);

    List<Customer> findByNameStartingWithAndCity(String start, String city);

    List<Customer> findTop3ByOrderByAgeAsc();

    boolean existsByName(String name);

    long countByCity(String city);

    Page<Customer> findByCity(String city, Pageable pageable);

    Slice<Customer> findByAgeGreaterThan(int least, Pageable pageable);

    void deleteByCity(String city);

    @Query("SELECT * FROM c WHERE c.age >= @least AND c.city = @city")
    List<Customer> atLeast(@Param("least") int least, @Param("city") String city);

    @Query("SELECT * FROM c WHERE c.age >= @least")
    Page<Customer> pagesOf(@Param("least") int least, Pageable pageable);

    @Query("SELECT * FROM c WHERE c.age >= @least")
    List<Customer> sorted(@Param("least") int least, Sort sort);

    @Query("SELECT VALUE COUNT(1) FROM c WHERE c.age >= @least")
    long counted(@Param("least") int least);
}
