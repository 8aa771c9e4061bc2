-- What an event says of a step: numbers and listed words, nothing a model or a person wrote.
CREATE FUNCTION journal_fact(
    p_step bigint, p_tool text, p_attempt integer, p_reason text, p_cause text, p_next_at timestamptz
) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_strip_nulls(jsonb_build_object(
        'step', p_step, 'tool', nullif(p_tool, ''), 'attempt', p_attempt, 'reason', nullif(p_reason, ''),
        'cause', nullif(p_cause, ''), 'next_at', p_next_at))
$$;
