import { isExact } from '../../api/exact';
import { Field, Input } from '../../ui';
import { readValue, type Typed } from './parameters';

export interface ParametersProps {
  names: readonly string[];
  typed: Typed;
  onChange(typed: Typed): void;
  onRun(): void;
}

/** The values of the parameters that the text names, with what each is taken as. */
export function Parameters({ names, typed, onChange, onRun }: ParametersProps) {
  if (names.length === 0) return null;
  return (
    <section class="query-parameters" aria-label="Parameters">
      {names.map((name) => {
        const reading = readValue(typed[name] ?? '');
        const taken =
          reading.kind === 'missing' ? 'no value yet'
          : reading.kind === 'wrong' ? 'not JSON'
          : reading.kind === 'text' ? 'text'
          : kindOf(reading.value);
        return (
          <Field key={name} label={name} error={reading.kind === 'wrong' ? reading.why : null}>
            <div class="query-value">
              <Input
                aria-label={`Value of ${name}, text or JSON`}
                placeholder="text or JSON"
                value={typed[name] ?? ''}
                onInput={(text) => onChange({ ...typed, [name]: text })}
                onKeyDown={(event) => event.key === 'Enter' && !(event.ctrlKey || event.metaKey) && onRun()}
              />
              <span class={`badge${reading.kind === 'missing' || reading.kind === 'wrong' ? ' warn' : ''}`}>{taken}</span>
            </div>
          </Field>
        );
      })}
    </section>
  );
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (isExact(value)) return 'number';
  return typeof value === 'string' ? 'text' : typeof value;
}
