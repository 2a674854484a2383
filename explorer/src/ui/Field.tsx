import { createContext, type ComponentChildren, type Ref } from 'preact';
import { useContext, useId } from 'preact/hooks';

import './controls.css';

interface Described {
  id: string;
  describedBy: string | undefined;
  isWrong: boolean;
}

const Within = createContext<Described | null>(null);

export interface FieldProps {
  label: string;
  /** One or two plain sentences. */
  help?: ComponentChildren;
  error?: string | null | undefined;
  /** The label is there for readers of screens alone. */
  hideLabel?: boolean;
  children: ComponentChildren;
}

/** One control with its label, its help and what is wrong with it: the control inside finds them by itself. */
export function Field({ label, help, error, hideLabel, children }: FieldProps) {
  const id = useId();
  const describedBy = [help ? `${id}-help` : '', error ? `${id}-error` : ''].filter(Boolean).join(' ');
  return (
    <div class="field">
      <label for={id} class={hideLabel ? 'unseen' : ''}>
        {label}
      </label>
      <Within.Provider value={{ id, describedBy: describedBy || undefined, isWrong: Boolean(error) }}>
        {children}
      </Within.Provider>
      {error && (
        <p class="wrong" id={`${id}-error`} role="alert">
          {error}
        </p>
      )}
      {help && (
        <p class="help" id={`${id}-help`}>
          {help}
        </p>
      )}
    </div>
  );
}

function useDescription() {
  const within = useContext(Within);
  if (!within) return {};
  return { id: within.id, 'aria-describedby': within.describedBy, 'aria-invalid': within.isWrong || undefined };
}

/** What every control may be given besides its value. */
interface ControlProps {
  'aria-label'?: string;
  disabled?: boolean;
  autofocus?: boolean;
  title?: string;
}

export interface InputProps extends ControlProps {
  value: string | number;
  onInput?(text: string): void;
  type?: 'text' | 'password' | 'number' | 'search' | 'datetime-local';
  placeholder?: string;
  readOnly?: boolean;
  autocomplete?: 'off' | 'on' | 'current-password';
  min?: number | string;
  max?: number | string;
  step?: number | string;
  list?: string;
  maxLength?: number;
  class?: string;
  onKeyDown?(event: KeyboardEvent): void;
  onBlur?(): void;
  inputRef?: Ref<HTMLInputElement>;
}

export function Input({ value, onInput, inputRef, class: given = '', type = 'text', autocomplete = 'off', ...rest }: InputProps) {
  return (
    <input
      type={type as 'text'}
      autocomplete={autocomplete}
      spellcheck={false}
      {...useDescription()}
      {...rest}
      ref={inputRef ?? null}
      class={`input ${given}`}
      value={value}
      onInput={(event) => onInput?.(event.currentTarget.value)}
    />
  );
}

export interface TextAreaProps extends ControlProps {
  value: string;
  onInput?(text: string): void;
  rows?: number;
  placeholder?: string;
  readOnly?: boolean;
  class?: string;
  onKeyDown?(event: KeyboardEvent): void;
}

export function TextArea({ value, onInput, class: given = '', ...rest }: TextAreaProps) {
  return (
    <textarea
      spellcheck={false}
      {...useDescription()}
      {...rest}
      class={`input area ${given}`}
      value={value}
      onInput={(event) => onInput?.(event.currentTarget.value)}
    />
  );
}

export interface SelectProps<V extends string> extends ControlProps {
  value: V;
  options: readonly (readonly [V, string])[];
  onChange(value: NoInfer<V>): void;
}

export function Select<V extends string>({ value, options, onChange, ...rest }: SelectProps<V>) {
  return (
    <select
      {...useDescription()}
      {...rest}
      class="input select"
      value={value}
      onChange={(event) => onChange(event.currentTarget.value as V)}
    >
      {options.map(([key, text]) => (
        <option key={key} value={key}>
          {text}
        </option>
      ))}
    </select>
  );
}

export interface CheckboxProps {
  label: ComponentChildren;
  checked: boolean;
  onChange(checked: boolean): void;
  disabled?: boolean;
  help?: ComponentChildren;
}

export function Checkbox({ label, checked, onChange, disabled, help }: CheckboxProps) {
  const id = useId();
  return (
    <div class="field">
      <label class="check">
        <input
          type="checkbox"
          checked={checked}
          disabled={disabled ?? false}
          aria-describedby={help ? `${id}-help` : undefined}
          onChange={(event) => onChange(event.currentTarget.checked)}
        />
        <span>{label}</span>
      </label>
      {help && (
        <p class="help inset" id={`${id}-help`}>
          {help}
        </p>
      )}
    </div>
  );
}

export interface ChoiceProps<V extends string> {
  label: string;
  value: V;
  options: readonly (readonly [V, string, string?])[];
  onChange(value: NoInfer<V>): void;
  disabled?: boolean;
}

/** A few possibilities of which one holds, each with a sentence on what it means. */
export function Choice<V extends string>({ label, value, options, onChange, disabled }: ChoiceProps<V>) {
  const name = useId();
  return (
    <fieldset class="choice" disabled={disabled ?? false}>
      <legend>{label}</legend>
      {options.map(([key, text, help]) => (
        <label key={key} class="check">
          <input type="radio" name={name} checked={value === key} onChange={() => onChange(key)} />
          <span>
            {text}
            {help && <span class="help"> {help}</span>}
          </span>
        </label>
      ))}
    </fieldset>
  );
}
