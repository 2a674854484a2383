//! What was used and refused in the last minute and the last hour, against what is provisioned.

import { useMemo, useState } from 'preact/hooks';

import { history, type ContainerPartitions } from '../../api/partitions';
import { SECOND, usePoll } from '../../api/poll';
import { Chart } from '../../chart/Chart';
import { Problem, Spinner, Tabs } from '../../ui';
import { lines, type Grouping } from './lines';

type Span = 'minute' | 'hour';

const SPANS: [Span, string][] = [
  ['minute', 'Last 60 seconds'],
  ['hour', 'Last hour'],
];
const GROUPINGS: [Grouping, string][] = [
  ['whole', 'Whole container'],
  ['partitions', 'By partition'],
];

/** The last minutes change once a minute: there is no need to look every second. */
const EVERY: Record<Span, number> = { minute: SECOND, hour: 10 * SECOND };

const HEIGHT = 190;

interface HistoryProps {
  database: string;
  container: string;
  /** For what is provisioned; null until it is known. */
  partitions: ContainerPartitions | null;
}

export function History({ database, container, partitions }: HistoryProps) {
  const [span, setSpan] = useState<Span>('minute');
  const [grouping, setGrouping] = useState<Grouping>('whole');
  const place = `${database}/${container}`;
  const served = usePoll(place, (signal) => history(database, container, signal), EVERY[span]);

  const steps = served.value && (span === 'minute' ? served.value.seconds : served.value.minutes);
  const drawn = useMemo(() => steps && lines(steps, partitions, grouping), [steps, partitions, grouping]);

  return (
    <section class="card throughput-history" aria-label="What was used">
      <div class="throughput-tabs">
        <Tabs label="Time" tabs={SPANS} active={span} onChange={setSpan} />
        <Tabs label="Lines" tabs={GROUPINGS} active={grouping} onChange={setGrouping} />
      </div>
      {served.error !== null && <Problem error={served.error} />}
      {!drawn && served.error === null && <Spinner label="Reading what was used" />}
      {drawn && drawn.xs.length === 0 && (
        <p class="note">No partition of this container was opened since the server started, so nothing was counted yet.</p>
      )}
      {drawn && drawn.xs.length > 0 && (
        <div class="throughput-charts">
          <Chart
            label="Request units used"
            unit={span === 'minute' ? 'RU in each second' : 'RU/s, average of each minute'}
            series={drawn.used}
            xs={drawn.xs}
            height={HEIGHT}
          />
          <Chart
            label="Requests refused with 429"
            unit={span === 'minute' ? 'in each second' : 'in each minute'}
            series={drawn.refused}
            xs={drawn.xs}
            height={HEIGHT}
          />
        </div>
      )}
    </section>
  );
}
