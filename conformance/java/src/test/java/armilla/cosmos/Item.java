package armilla.cosmos;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;

/** What most tests store. */
@JsonIgnoreProperties(ignoreUnknown = true)
public record Item(String id, String city, double number) {}
